import type { AppFacts } from '../../domain/apps/describe-app.ts';
import { newId } from '../../domain/text/ids.ts';
import { ago, columns, type Db, now } from '../../platform/db.ts';

/** An app that can act for people, such as an MCP client. */
export interface ClientApp extends AppFacts {
    /** The URL of its metadata document, or `app_…` if it registered itself. */
    appId: string;
    /** Why its document cannot be used; null if it can be used. */
    problem: string | null;
}

/** How long a document is cached, usable or not. */
const KEPT = '24 hours';
const KEPT_PROBLEM = '30 seconds';
/** After this time, a worker that claimed a document counts as dead. */
const LEASE = "interval '15 seconds'";

/** Stores an app that registers itself (RFC 7591). */
export async function registerApp(db: Db, { name, redirectUris }: AppFacts): Promise<ClientApp> {
    const appId = newId('app');
    await db('apps').insert({ id: appId, name, redirect_uris: redirectUris });
    return { appId, name, redirectUris, problem: null };
}

/** Finds a registered app, or one whose document is cached. */
export async function findApp(db: Db, appId: string): Promise<ClientApp | undefined> {
    return db('apps')
        .where({ id: appId })
        .where((is) =>
            is
                .where('id', 'like', 'app\\_%')
                .orWhere((good) => good.whereNull('problem').where('read_at', '>', ago(db, KEPT)))
                .orWhere('read_at', '>', ago(db, KEPT_PROBLEM)),
        )
        .first({ ...columns('', 'redirect_uris problem'), appId: 'id', name: db.raw("coalesce(name, '')") });
}

/** Asks the workers to read the document of an app. */
export async function askForDocument(db: Db, appId: string): Promise<void> {
    await db('apps')
        .insert({ id: appId, asked_at: now(db) })
        .onConflict('id')
        .merge({ asked_at: now(db) });
}

/** Raw: requested documents that no worker is reading. */
const REQUESTED = `from apps where asked_at is not null and (began_at is null or began_at < app_now() - ${LEASE})`;

/** Raw: whether a document is requested. */
export const DOCUMENT_IS_DUE = `select true ${REQUESTED} order by asked_at limit 1`;

/** Claims the oldest requested document; undefined if there is none. */
export async function takeDocument(db: Db): Promise<{ appId: string } | undefined> {
    const { rows } = await db.raw<{ rows: { appId: string }[] }>(`
        update apps set began_at = app_now() where id = (
            select id ${REQUESTED}
            order by asked_at, id limit 1 for update skip locked)
        returning id as "appId"`);
    return rows[0];
}

/** Stores the content of a document, or the reason why it cannot be used. */
export async function keepDocument(db: Db, appId: string, read: AppFacts | { problem: string }): Promise<void> {
    const facts =
        'problem' in read
            ? { problem: read.problem, redirect_uris: [] }
            : { problem: null, name: read.name, redirect_uris: read.redirectUris };
    await db('apps')
        .where({ id: appId })
        .update({ ...facts, read_at: now(db), asked_at: null, began_at: null });
}
