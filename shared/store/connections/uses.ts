import { type BatchWriter, openBatchWriter } from '../../platform/batch-writer.ts';
import { type Db, now } from '../../platform/db.ts';
import { actorOf, recordAct } from '../accounts/workspace-audit.ts';
import { type PassedCall, recordPasses } from './connection-status.ts';

interface ConnectionUse {
    workspaceId: string;
    connectionId: string;
    keyId: string;
    userId: string;
    site: string;
    endpoint: string;
    versionId: number;
    /** When the call began, in milliseconds since the epoch; absent if the site did not accept the credential. */
    passedAt?: number | undefined;
}

/** Counts uses of connections. They are written within a second, off the path of calls. */
export type ConnectionUses = BatchWriter<ConnectionUse>;

const EVERY_MS = 900;
const MAX_ROWS = 20_000;

/** Opens the counter of a process. Close it before the pool. */
export function openConnectionUses(db: Db, { log }: { log: { warn(fields: object, message: string): void } }): ConnectionUses {
    const onError = (error: unknown) => log.warn({ part: 'connections', err: error }, 'uses of connections could not be written');
    return openBatchWriter({ write: (uses) => write(db, uses), everyMs: EVERY_MS, maxRows: MAX_ROWS, onError });
}

/** Counts by connection, key, endpoint and hour. The first use in an hour is recorded in the audit log of the workspace. */
async function write(db: Db, uses: readonly ConnectionUse[]): Promise<void> {
    const groups = [...Map.groupBy(uses, ({ connectionId, keyId, endpoint }) => JSON.stringify([connectionId, keyId, endpoint]))];
    const inOrder = groups.toSorted(([one], [other]) => (one < other ? -1 : 1));
    await db.transaction(async (trx) => {
        for (const [, [use, ...more]] of inOrder) {
            if (use === undefined) continue;
            const { workspaceId, connectionId, keyId, endpoint, site } = use;
            const { rows } = await trx.raw<{ rows: { isFirst: boolean }[] }>(
                `insert into connection_uses as kept (workspace_id, connection_id, key_id, endpoint, hour, uses)
                 select w.id, ?, ?, ?, date_trunc('hour', app_now(), 'UTC'), ? from workspaces w where w.id = ?
                 on conflict (connection_id, key_id, endpoint, hour) do update set uses = kept.uses + excluded.uses
                 returning xmax = 0 as "isFirst"`,
                [connectionId, keyId, endpoint, more.length + 1, workspaceId],
            );
            if (rows[0]?.isFirst)
                await recordAct(trx, {
                    actor: actorOf(use),
                    workspaceId,
                    action: 'connection.used',
                    target: connectionId,
                    details: { site, endpoint },
                });
        }
        await recordPasses(trx, uses.flatMap(passOf));
        const used = [...new Set(uses.map(({ connectionId }) => connectionId))].toSorted();
        await trx('connections')
            .whereIn('id', used)
            .update({ last_used_at: now(trx) });
    });
}

function passOf({ connectionId, versionId, passedAt }: ConnectionUse): PassedCall[] {
    return passedAt === undefined ? [] : [{ connectionId, versionId, beganAt: passedAt }];
}
