import { Command, CommanderError, Help } from 'commander';
import { usageExit } from '../shared/platform/command-line.ts';
import { VERSION } from '../shared/platform/version.ts';
import { addAllCommands } from './commands/all.ts';
import { presentFailure } from './failures.ts';
import { ENDED_BY_CTRL_C } from './interruption.ts';
import { createSession, type Run } from './session.ts';
import { PROGRAM, type Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** Runs one command. With `--json` the last line of stdout is the result or the error. @returns 0, 1: failure, 2: wrong usage, 130: Ctrl-C */
export async function runCommandLine(args: readonly string[], terminal: Terminal, settings: Settings): Promise<number> {
    const isJson = args.includes('--json');
    let exitCode = 0;
    const run: Run =
        (load) =>
        async (...given) => {
            // Commander passes the command last.
            const session = createSession(terminal, settings, (given.pop() as Command).optsWithGlobals());
            const work = await load();
            const { result, lines = [], hint, isFailure, isInterrupted } = await work(session, ...(given as never[]));
            if (isJson) terminal.print(JSON.stringify(result));
            else for (const line of lines) terminal.print(line);
            if (hint !== undefined) terminal.printError(hint);
            if (isInterrupted === true) exitCode = ENDED_BY_CTRL_C;
            else if (isFailure === true) exitCode = 1;
        };
    const program = newProgram(terminal);
    addAllCommands(program, run);
    suggestCommands(program, terminal);
    for (const command of program.commands) {
        for (const one of [command, ...command.commands]) {
            suggestCommands(one, terminal);
            addCommonOptions(one).showHelpAfterError(`("${pathOf(one)} --help" shows how)`);
        }
    }
    try {
        await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
        return exitCode;
    } catch (error) {
        if (error instanceof CommanderError) return usageExit(error, isJson, terminal);
        const failure = presentFailure(error, terminal.paintError);
        for (const line of failure.lines) terminal.printError(line);
        if (isJson) terminal.print(JSON.stringify({ error: failure.error }));
        return failure.exitCode;
    }
}

function newProgram(terminal: Terminal): Command {
    const { paint } = terminal;
    const program = new Command(PROGRAM)
        .description('Find the routes behind websites, call them, and publish new ones.')
        .version(VERSION, '-V, --version', 'print the version')
        .helpOption('-h, --help', 'show this help')
        .addHelpCommand(new Command('help').argument('[command]').description('show the help of a command').helpGroup('More:'))
        // `--version` before a command prints the program's version; after a command it is an option of that command.
        .enablePositionalOptions()
        .showHelpAfterError(`("${PROGRAM} --help" lists all commands)`)
        .configureOutput({
            writeOut: (text) => terminal.print(text.trimEnd()),
            writeErr: (text) => terminal.printError(text.trimEnd()),
            getOutHelpWidth: () => Math.min(terminal.columns, 110),
            getOutHasColors: () => terminal.isColourful.out,
            getErrHasColors: () => terminal.isColourful.error,
        })
        .configureHelp({
            showGlobalOptions: false,
            styleTitle: (text) => paint('bold', text),
            styleCommandText: (text) => paint('cyan', text),
            styleSubcommandText: (text) => paint('cyan', text),
            styleArgumentText: (text) => paint('yellow', text),
            styleOptionText: (text) => paint('green', text),
            subcommandTerm: (command) => new Help().subcommandTerm(command).replace(' [options]', ''),
        })
        .addHelpText('after', AFTER_HELP);
    return addCommonOptions(program);
}

const AFTER_HELP = `
Environment variables:
  ROUTEBOOK_URL      the server, unless --server is given
  ROUTEBOOK_API_KEY  the API key, instead of the stored one
  EGRESS_ALLOW       what "test" may call besides public https, such as
                     127.0.0.1/32:3000; it also reads EGRESS_HOSTS and
                     EGRESS_PROXY_URL
  NO_COLOR           print no colours

"${PROGRAM} help <command>" shows the help of a command.`;

/** Words that people try, and commands that they may mean. Those that exist beside the word are suggested. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
    ['account', ['whoami']],
    ['call', ['fetch']],
    ['create', ['add', 'run', 'start']],
    ['credits', ['whoami']],
    ['delete', ['cancel', 'remove']],
    ['download', ['pull']],
    ['events', ['listen', 'webhook']],
    ['get', ['show', 'fetch']],
    ['lookup', ['catalog', 'find']],
    ['new', ['add', 'run', 'start']],
    ['publish', ['push']],
    ['register', ['login']],
    ['remove', ['delete', 'cancel']],
    ['result', ['show']],
    ['results', ['follow', 'show']],
    ['signup', ['login']],
    ['sites', ['list']],
    ['start', ['run']],
    ['status', ['show', 'whoami']],
    ['validate', ['lint']],
    ['verify', ['check', 'lint']],
    ['watch', ['monitor']],
]);

/** Adds suggestions by meaning to errors of a command. Commander compares only spelling: it suggests `logout` for `lookup`. */
function suggestCommands(command: Command, { paintError }: Pick<Terminal, 'paintError'>): void {
    const suggest = (text: string) =>
        text.replace(/^error: unknown command '(\w+)'(?:\n\(Did you mean .*\))?/, (said: string, word: string) => {
            const names = new Set(command.commands.map((one) => one.name()));
            const meant = (SYNONYMS.get(word) ?? []).filter((name) => names.has(name));
            return meant.length === 0 ? said : `error: unknown command '${word}'\n(Did you mean ${meant.join(' or ')}?)`;
        });
    command
        .configureOutput({ outputError: (text, write) => write(suggest(text).replace(/^error: /, `${paintError('red', '✗')} `)) })
        .exitOverride((error) => {
            error.message = suggest(error.message);
            throw error;
        });
}

/** `routebook batch run` */
function pathOf(command: Command): string {
    return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Global options, accepted before and after the command. */
function addCommonOptions(command: Command): Command {
    return command
        .option('--server <url>', 'address of the Routebook to talk to')
        .option('--json', 'print the result as one line of JSON, the last line of stdout');
}
