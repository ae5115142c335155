import { keysIn, type StoredKeys } from './account/stored-keys.ts';
import { Routebook, type RoutebookOptions } from './client/index.ts';
import { CommandFault, wrongUsage } from './failures.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** The result of a command: as JSON for `--json`, and as lines for people. */
export interface Done {
    result: unknown;
    lines?: readonly string[];
    /** A line for stderr below the result, such as how to continue a list. */
    hint?: string;
    /** Exit with 1 although there is a result. */
    isFailure?: boolean;
    /** Ctrl-C ended the command. */
    isInterrupted?: true;
}

/** A result with one line that says what was done. */
export function done(result: unknown, { paint }: Terminal, words: string): Done {
    return { result, lines: [`${paint('green', '✓')} ${words}`] };
}

/** The options that every command accepts. */
export interface CommonOptions {
    server?: string;
    json?: true;
}

/** The function of a command. After the session it gets the arguments and then the options; a test checks their number. */
type Work = (session: Session, ...given: never[]) => Promise<Done>;

/** Creates the action of a command. The function is loaded when the command runs, so that help appears quickly. */
export type Run = (load: () => Promise<Work>) => (...given: unknown[]) => Promise<void>;

/** How long a client tries. */
export type Patience = Pick<RoutebookOptions, 'maxRetries' | 'timeoutMs'>;

/** For commands that wait long: a restart of the server does not end them. Tries for about a minute. */
export const PATIENT: Patience = { maxRetries: 12 };

/** One run of one command. */
export interface Session {
    terminal: Terminal;
    settings: Settings;
    isJson: boolean;
    /** Without a trailing slash: `--server`, else ROUTEBOOK_URL, else the server of the last login, else this machine. */
    server: string;
    keys: StoredKeys;
    client(more?: Patience): Routebook;
    /** The options of `client`. */
    clientOptions(): RoutebookOptions;
    /** Prints a line of the result immediately; nothing with `--json`. */
    say(line: string): void;
    /** Prints a line to stderr. */
    note(line: string): void;
}

const THIS_MACHINE = 'http://localhost:8080';

/** Selects the server: `--server`, else ROUTEBOOK_URL, else that of the last login, else this machine. @throws CommandFault */
export function createSession(terminal: Terminal, settings: Settings, options: CommonOptions): Session {
    const keys = keysIn(settings.folder);
    // If the environment has the server and the key, a broken file of keys does not matter.
    let read: ReturnType<StoredKeys['read']> | undefined;
    const stored = () => {
        read ??= keys.read();
        return read;
    };
    const server = readServer(options.server ?? settings.server ?? stored().lastServer ?? THIS_MACHINE);
    const isJson = options.json === true;
    const note = (line: string) => terminal.printError(line);
    const clientOptions = (): RoutebookOptions => {
        const apiKey = settings.apiKey ?? stored().keyOf(server);
        if (apiKey !== undefined && isInTheClear(server)) note(`! the key is sent unencrypted to ${server}`);
        return {
            baseUrl: server,
            ...(apiKey === undefined ? {} : { apiKey }),
            maxRetries: 2,
            onRetry: ({ code }, waitMs) => note(`! ${code}: trying again in ${(waitMs / 1000).toFixed(1)} s`),
        };
    };
    return {
        terminal,
        settings,
        isJson,
        server,
        keys,
        client: (more) => new Routebook({ ...clientOptions(), ...more }),
        clientOptions,
        say: (line) => {
            if (!isJson) terminal.print(line);
        },
        note,
    };
}

function readServer(text: string): string {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isAddress = (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.search === '';
    if (!isAddress) throw wrongUsage(`${JSON.stringify(text)} is not the URL of a server, such as ${THIS_MACHINE}`);
    return url.href.replace(/[/#]+$/, '');
}

function isInTheClear(server: string): boolean {
    const { protocol, hostname } = new URL(server);
    return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** The fault of a command after the user has cancelled a question. */
export function cancelled(): CommandFault {
    return new CommandFault('CANCELLED', 'cancelled; nothing was done');
}
