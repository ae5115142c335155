import type { ConnectionEntry } from '../client/index.ts';
import type { Done, Session } from '../session.ts';
import { table } from '../table.ts';
import { readSecret } from './read-secret.ts';

export interface ConnectOptions {
    auth?: string;
    name?: string;
    user?: string;
    shared?: true;
    test?: boolean;
    consent?: true;
}

/** `routebook connect SITE`: asks for the secret without echo, or prints the URL for the consent. */
export async function connect({ client, terminal }: Session, site: string, options: ConnectOptions): Promise<Done> {
    const { paint } = terminal;
    const { connections } = client();
    const { auth, name, user, shared, test = true, consent } = options;
    const chosen = { site, ...(auth === undefined ? {} : { auth_id: auth }) };
    if (consent) {
        const begun = await connections.authorize(chosen);
        return {
            result: begun,
            lines: ['Open this within ten minutes, in a browser that is signed in to Routebook:', '', `  ${begun.authorize_url}`],
        };
    }
    const value = await readSecret(terminal, user === undefined ? `Key or token for ${site}` : `Password of ${user} at ${site}`);
    const secret = user === undefined ? { value } : { username: user, password: value };
    const order = { ...chosen, secret, ...(name === undefined ? {} : { name }), ...(shared === undefined ? {} : { shared }) };
    const made = await connections.create(order, { test });
    return { result: made, lines: [`${paint('green', '✓')} ${made.connection_id} connects ${made.site} (${made.status})`] };
}

/** `routebook connections list` */
export async function listConnections({ client, terminal: { paint } }: Session): Promise<Done> {
    const connections: ConnectionEntry[] = [];
    for await (const one of client().connections.list({ limit: 100 })) connections.push(one);
    const result = { connections };
    if (connections.length === 0) return { result, lines: ['No connections; "routebook connect SITE" adds one.'] };
    const rows = connections.map((one) => [one.connection_id, one.site, one.name, one.status, one.last_used_at ?? 'never']);
    return { result, lines: table(['connection', 'site', 'name', 'status', 'last used'], rows, paint) };
}

/** `routebook connections show ID` */
export async function showConnection({ client, terminal: { paint } }: Session, id: string): Promise<Done> {
    const one = await client().connections.get(id);
    const rows: [string, string][] = [
        ['connection', one.connection_id],
        ['site', one.site],
        ['name', one.name],
        ['sent as', `${one.type} (${one.auth_id})`],
        ['hosts', one.hosts.join(', ')],
        ['status', one.status],
        ['hint', one.hint],
        ['last used', one.last_used_at ?? 'never'],
    ];
    return { result: one, lines: rows.map(([name, value]) => `${paint('dim', name.padEnd(12))}${value}`) };
}

/** `routebook connections test ID` */
export async function testConnection({ client, terminal: { paint } }: Session, id: string): Promise<Done> {
    const tested = await client().connections.test(id);
    return { result: tested, lines: [`${paint('green', '✓')} ${tested.site} takes ${id}`] };
}

/** `routebook connections remove ID` */
export async function removeConnection({ client, terminal: { paint } }: Session, id: string): Promise<Done> {
    const result = await client().connections.delete(id);
    return { result, lines: [`${paint('green', '✓')} connection ${id} is deleted`] };
}
