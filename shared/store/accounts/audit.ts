import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

interface AuditEntry {
    at: Date;
    /** Who made the change: `operator <name>` on the command line, or the id of a user in the dashboard. */
    actor: string;
    /** For example `site block`. */
    command: string;
    /** An id or a domain. */
    target: string;
    reason: string | null;
    before: JsonObject | null;
    after: JsonObject | null;
}

/** Records a change. Call it in the transaction that makes the change. Never pass keys or passwords. */
export async function recordChange(db: Db, { before, after, ...entry }: Omit<AuditEntry, 'at'>): Promise<void> {
    await db('audit').insert({ ...entry, before: before && JSON.stringify(before), after: after && JSON.stringify(after) });
}

/** The recorded changes, newest first. */
export async function listChanges(db: Db, limit: number): Promise<AuditEntry[]> {
    return db('audit').orderBy('id', 'desc').limit(limit).select('at', 'actor', 'command', 'target', 'reason', 'before', 'after');
}
