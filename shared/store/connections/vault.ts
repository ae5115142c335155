import type { StoredSecret } from '../../domain/connections/secret.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { Connection } from './connections.ts';
import { DataKeyUnreadable, openDataKey, secretOpener } from './sealing.ts';

/** The columns that a call needs. */
export type UsableConnection = Pick<
    Connection,
    'connectionId' | 'workspaceId' | 'ownerId' | 'shared' | 'site' | 'authId' | 'entry' | 'hosts' | 'status' | 'revision' | 'scopes'
>;

export type Vault = ReturnType<typeof openVault>;

const KNOWN_MS = 500;
const MAX_KNOWN = 10_000;
const TIMEOUT_MS = 3000;

/**
 * Opens the connections for the calls of one process. The cache is less than a second old, so a deleted connection is unusable after that
 * time. Look-ups of one tick share one query. Values stay encrypted; their keys are derived once, which takes 20 µs of 30.
 */
export function openVault(db: Db, secrets: Secrets) {
    const lists = remembering(
        (questions: readonly Question[]) => readLists(db, questions),
        (question) => JSON.stringify(question),
    );
    const rows = remembering(
        (ids: readonly string[]) => readSealed(db, secrets, ids),
        (id) => id,
    );
    return {
        /** The connections of a workspace for a site, of all its members. */
        list: (workspaceId: string, site: string) => lists.remembered([workspaceId, site]),
        /** Like `list`, without the cache. For calls that the cached connections would refuse. */
        listNow: (workspaceId: string, site: string) => lists.now([workspaceId, site]),
        /** Clears the cache for a site, after a change. */
        forget: (workspaceId: string, site: string) => lists.forget([workspaceId, site]),
        /** Removes a value from the cache, after it was renewed. */
        forgetValue: (connectionId: string) => rows.forget(connectionId),
        /**
         * Undefined if it no longer exists. @param revision minimum revision of the value
         * @throws DataKeyUnreadable
         */
        async open(connectionId: string, revision: number): Promise<{ connection: UsableConnection; secret: StoredSecret } | undefined> {
            const known = await rows.remembered(connectionId);
            const row = known !== undefined && known.revision < revision ? await rows.now(connectionId) : known;
            if (row === undefined) return undefined;
            const { openSecret, ...connection } = row;
            // The caller could not repair it by another connection.
            if (openSecret === undefined) throw new DataKeyUnreadable(connection.workspaceId);
            const secret = openSecret();
            return secret && { connection, secret };
        },
    };
}

/** Batches the questions of one tick into one query. */
function remembering<Question, Answer extends object | undefined>(
    read: (questions: readonly Question[]) => Promise<Answer[]>,
    keyOf: (question: Question) => string,
) {
    const known = growingCache<string, { answer: Promise<Answer> }>(MAX_KNOWN, KNOWN_MS);
    const { add } = openBatch({ run: read });
    const now = (question: Question) => {
        const key = keyOf(question);
        const answer = add(question);
        known.set(key, { answer });
        answer.catch(() => known.delete(key));
        return answer;
    };
    return {
        now,
        forget: (question: Question) => void known.delete(keyOf(question)),
        /** Answers from a cache that is at most half a second old. */
        remembered: (question: Question) => known.get(keyOf(question))?.answer ?? now(question),
    };
}

type Question = readonly [workspaceId: string, site: string];

const COLUMNS = `c.id as "connectionId", c.workspace_id as "workspaceId", c.owner_id as "ownerId", c.shared, c.site, c.auth_id as "authId", c.entry, c.hosts, c.status, c.revision, c.scopes`;

const LISTS: PreparedQuery = {
    name: 'connections_for_calls',
    text: `select ${COLUMNS}, asked.place::integer as place
        from unnest((select $1::text[]), (select $2::text[])) with ordinality as asked (workspace_id, site, place)
        join connections c on c.workspace_id = asked.workspace_id and c.site = asked.site and c.status <> 'trial' order by c.id`,
};

async function readLists(db: Db, questions: readonly Question[]): Promise<UsableConnection[][]> {
    const columns = [questions.map(([workspaceId]) => workspaceId), questions.map(([, site]) => site)];
    const rows = await runPrepared<UsableConnection & { place: number }>(db, LISTS, columns, TIMEOUT_MS);
    const lists = questions.map((): UsableConnection[] => []);
    for (const { place, ...connection } of rows) lists[place - 1]?.push(connection);
    return lists;
}

interface SealedRow extends UsableConnection {
    /** Undefined if no key of the installation decrypts the data key of the workspace. */
    openSecret: (() => StoredSecret | undefined) | undefined;
}

type StoredRow = UsableConnection & { sealed: Buffer; sealedKey: Buffer; place: number };

const SEALED: PreparedQuery = {
    name: 'connections_sealed',
    text: `select ${COLUMNS}, c.sealed, k.sealed as "sealedKey", asked.place::integer as place
        from unnest((select $1::text[])) with ordinality as asked (id, place)
        join connections c on c.id = asked.id join connection_keys k on k.workspace_id = c.workspace_id`,
};

async function readSealed(db: Db, secrets: Secrets, ids: readonly string[]): Promise<(SealedRow | undefined)[]> {
    const rows = await runPrepared<StoredRow>(db, SEALED, [[...ids]], TIMEOUT_MS);
    const found = new Array<SealedRow | undefined>(ids.length).fill(undefined);
    for (const { place, sealed, sealedKey, ...connection } of rows) {
        const dataKey = await openDataKey(secrets, sealedKey);
        found[place - 1] = { ...connection, openSecret: dataKey && secretOpener(dataKey, sealed, connection) };
    }
    return found;
}
