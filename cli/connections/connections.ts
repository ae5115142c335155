import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { flowsOf } from '../../shared/domain/package/auth.ts';
import type { PackageAuth, PackageDocument } from '../../shared/domain/types.ts';
import { fieldLines, table } from '../../shared/platform/table.ts';
import type { AuthorizeAnswer, ConnectionOrder } from '../client/types.ts';
import { CommandFault, wrongUsage } from '../failures.ts';
import { type Done, done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

interface ConnectOptions {
    auth?: string;
    name?: string;
    user?: string;
    clientId?: string;
    shared?: true;
    test?: boolean;
    consent?: true;
    browser?: boolean;
}

/** `routebook connect SITE`: asks without echo for the credential that the schema needs, or opens the browser for OAuth consent. */
export async function connect(session: Session, site: string, options: ConnectOptions): Promise<Done> {
    const { terminal } = session;
    const { connections, schemas } = session.client();
    const { auth, name, shared, test = true } = options;
    const entry = entryOf(await schemas.package(site), auth);
    const chosen = { site, ...(auth === undefined ? {} : { auth_id: auth }) };
    if (options.consent === true || wantsConsent(entry, options)) {
        return consent(session, await connections.authorize(chosen), options);
    }
    const secret = await askForSecret(session, site, entry, options);
    const order = { ...chosen, secret, ...(name === undefined ? {} : { name }), ...(shared === undefined ? {} : { shared }) };
    const made = await connections.create(order, { test });
    return done(made, terminal, `${made.connection_id} connects ${made.site} (${made.status})`);
}

/** The way to authenticate at the site. Nobody is asked for a secret that the server cannot take. */
function entryOf({ site, auth: entries = [] }: Pick<PackageDocument, 'site' | 'auth'>, id: string | undefined): PackageAuth {
    if (entries.length === 0) throw wrongUsage(`${site} takes no connections: call its endpoints without one.`);
    const fitting = entries.filter((one) => id === undefined || one.id === id);
    const [entry] = fitting;
    if (entry !== undefined && fitting.length === 1) return entry;
    throw wrongUsage(`Choose with --auth how to connect ${site}: ${entries.map((one) => one.id).join(', ')}.`);
}

function wantsConsent(entry: PackageAuth, { clientId }: ConnectOptions): boolean {
    return clientId === undefined && flowsOf(entry).includes('authorization_code');
}

function consent({ terminal, settings, isJson }: Session, begun: AuthorizeAnswer, { browser = true }: ConnectOptions): Done {
    if (browser && terminal.isInteractive && !isJson) openBrowser(begun.authorize_url, settings.browser);
    return {
        result: begun,
        lines: ['Open this within ten minutes, in a browser that is signed in to Routebook:', '', `  ${begun.authorize_url}`],
    };
}

async function askForSecret(
    { terminal }: Session,
    site: string,
    entry: PackageAuth,
    { user, clientId }: ConnectOptions,
): Promise<ConnectionOrder['secret']> {
    if (entry.obtain_url !== undefined && terminal.isInteractive) terminal.printError(`You get one at ${entry.obtain_url}`);
    if (clientId !== undefined) return { client_id: clientId, client_secret: await readSecret(terminal, `Client secret for ${site}`) };
    if (entry.type === 'oauth2') throw wrongUsage(`${site} takes a client of your own: give its id with --client-id.`);
    if (user !== undefined) return { username: user, password: await readSecret(terminal, `Password of ${user} at ${site}`) };
    if (entry.type === 'basic') throw wrongUsage(`${site} takes a user name and a password: give the name with --user.`);
    return { value: await readSecret(terminal, `${entry.type === 'cookie' ? 'Value of the cookie' : 'Key or token'} for ${site}`) };
}

export async function listConnections({ client, terminal }: Session): Promise<Done> {
    const connections = await client().connections.list({ limit: 100 }).all();
    const result = { connections };
    if (connections.length === 0) return { result, lines: [`No connections; "${PROGRAM} connect SITE" adds one.`] };
    const rows = connections.map((one) => [one.connection_id, one.site, one.name, one.status, one.last_used_at ?? 'never']);
    return { result, lines: table(['connection', 'site', 'name', 'status', 'last used'], rows, terminal) };
}

export async function showConnection({ client, terminal }: Session, id: string): Promise<Done> {
    const one = await client().connections.get(id);
    const fields = [
        ['connection', one.connection_id],
        ['site', one.site],
        ['name', one.name],
        ['sent as', `${one.type} (${one.auth_id})`],
        ['hosts', one.hosts.join(', ')],
        ['status', one.status],
        ['hint', one.hint],
        ['last used', one.last_used_at ?? 'never'],
    ] as const;
    return { result: one, lines: fieldLines(fields, terminal) };
}

export async function testConnection({ client, terminal }: Session, id: string): Promise<Done> {
    const tested = await client().connections.test(id);
    return done(tested, terminal, `${tested.site} takes ${id}`);
}

export async function removeConnection({ client, terminal }: Session, id: string): Promise<Done> {
    return done(await client().connections.delete(id), terminal, `connection ${id} is deleted`);
}

/** Opens a page in the named browser, or in the system's default browser. Does nothing if there is none. */
function openBrowser(url: string, browser: string | undefined): void {
    // The server chose the URL, so only http and https are opened.
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
    const [program, ...args] = browser === undefined ? opener() : [browser];
    if (program === undefined) return;
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
}

function opener(): string[] {
    if (process.platform === 'darwin') return ['open'];
    return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}

/** Asks for a secret without echo, or reads it from a pipe. It is never an argument, since other programs can see arguments. */
async function readSecret({ isInteractive, readAll, printError }: Terminal, label: string): Promise<string> {
    if (!isInteractive) return firstLine((await readAll()).toString());
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const asking = createInterface({ input: process.stdin, output: silent, terminal: true });
    // The prompt comes now, since the echo is already off.
    printError(`${label} (input is hidden):`);
    try {
        return firstLine(await asking.question(''));
    } finally {
        asking.close();
    }
}

function firstLine(text: string): string {
    const [line = ''] = text.split(/\r?\n/, 1);
    if (line === '') throw new CommandFault('NO_SECRET', 'No secret was given.', { exitCode: 2 });
    return line;
}
