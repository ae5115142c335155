import { type BatchWriter, openBatchWriter } from '../../platform/batch-writer.ts';
import type { Db } from '../../platform/db.ts';

/** An answered look-up in the catalog or search for endpoints. A fetch that contains its id belongs to it. */
interface LookUpSession {
    /** `ses_…` */
    id: string;
    /** Undefined: a search for endpoints of all sites. */
    site?: string;
    accountId?: string | undefined;
    /** The normalised words of the intent or task. */
    words?: readonly string[];
}

export type LookUpSessions = BatchWriter<LookUpSession>;

const EVERY_MS = 500;
const MAX_ROWS = 20_000;

/** Opens the look-up sessions of a process. Close them before the pool. */
export function openLookUpSessions(db: Db, options: { log?: { warn(fields: object, message: string): void } } = {}): LookUpSessions {
    return openBatchWriter<LookUpSession>({
        async write(sessions) {
            await db.raw(
                `insert into catalog_sessions (id, site, account_id, words, at)
                 select id, site, account_id, words, app_now()
                 from json_to_recordset(?::json) as s (id text, site text, account_id text, words text[])
                 on conflict do nothing`,
                [JSON.stringify(sessions.map(({ id, site, accountId, words }) => ({ id, site, account_id: accountId, words })))],
            );
        },
        everyMs: EVERY_MS,
        maxRows: MAX_ROWS,
        onError: (error) => options.log?.warn({ part: 'sessions', err: error }, 'catalog sessions could not be written'),
    });
}
