import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import type { FetchOutcome } from '../domain/fetch/fetch-job.ts';
import { normaliseSite } from '../domain/site/site-name.ts';
import type { Endpoint, Values } from '../domain/types.ts';
import { Refusal } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { UsableConnection } from '../store/connections/vault.ts';
import type { FetchOrder } from './order.ts';

/** The content of a cursor. Callers see it encrypted. */
export interface OpenedCursor {
    /** When the cursor was created, in milliseconds since the epoch. */
    at: number;
    workspace: string;
    connection: string | null;
    site: string;
    endpoint: string;
    version: number;
    /** The version that the first call named; null: it named none. A named version has its own price. */
    named: number | string | null;
    /** Hash of the bound param values. */
    values: string;
    /** The continuation that `writeContinuation` created. */
    next: string;
}

/** The parts of a call that a cursor is bound to. */
interface Bound {
    found: { site: string; version: number; endpoint: Pick<Endpoint, 'name'> };
    values: Values;
    connection: UsableConnection | undefined;
    cursor: OpenedCursor | undefined;
}

const PURPOSE = 'fetch cursor';
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Maximum length of a cursor in characters. A longer cursor is omitted. */
const MAX_CURSOR_LENGTH = 8192;

/**
 * Decrypts the cursor of a call; undefined if the call has none.
 * @throws Refusal INVALID_CURSOR if the cursor belongs to another workspace, site, endpoint or version, or is older than 24 hours
 */
export async function openFetchCursor(
    app: App,
    { workspaceId }: Pick<Caller, 'workspaceId'>,
    { cursor, site, endpoint, version }: FetchRequest,
): Promise<OpenedCursor | undefined> {
    if (cursor === undefined) return undefined;
    const opened = await app.secrets.open(Buffer.from(cursor, 'base64url'), PURPOSE);
    if (opened === undefined) throw new Refusal('INVALID_CURSOR');
    const held = JSON.parse(opened.toString()) as OpenedCursor;
    const named = normaliseSite(site);
    const isSame =
        held.workspace === workspaceId &&
        named.ok &&
        held.site === named.site &&
        held.endpoint === endpoint &&
        (version === undefined || version === held.version || version === held.named);
    if (!isSame || app.clock.now() - held.at > LIFETIME_MS) throw new Refusal('INVALID_CURSOR');
    return held;
}

/** @throws Refusal INVALID_CURSOR if the cursor belongs to other params or another connection */
export function checkCursor(held: OpenedCursor, values: Values, connection: Bound['connection']): void {
    if (held.values !== hashOf(values) || held.connection !== (connection?.connectionId ?? null)) throw new Refusal('INVALID_CURSOR');
}

/** Adds the cursor for the next call to an outcome, if more pages follow. Never throws, because the pages have already been read. */
export async function withFetchCursor(
    app: App,
    { caller, body }: Pick<FetchOrder, 'caller' | 'body'>,
    { found, values, connection, cursor }: Bound,
    outcome: FetchOutcome,
): Promise<FetchOutcome> {
    if (!outcome.ok || outcome.next === undefined) return outcome;
    const { next, ...rest } = outcome;
    const held: OpenedCursor = {
        at: app.clock.now(),
        workspace: caller.workspaceId,
        connection: connection?.connectionId ?? null,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        named: cursor === undefined ? (body.version ?? null) : cursor.named,
        values: hashOf(values),
        next,
    };
    try {
        const nextCursor = (await app.secrets.seal(JSON.stringify(held), PURPOSE)).toString('base64url');
        return nextCursor.length > MAX_CURSOR_LENGTH ? rest : { ...rest, nextCursor };
    } catch (err) {
        app.log.warn({ part: 'fetch', err }, 'a cursor could not be encrypted');
        return rest;
    }
}

function hashOf(values: Values): string {
    return hash('sha256', canonicalize(values) ?? '', 'base64');
}
