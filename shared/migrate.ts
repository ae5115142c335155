import { migrateQueue } from './coordination/queue/queue.ts';
import { migrate } from './platform/db.ts';

/** Brings the database at `url` up to date: our tables, and the queue's own schema beside them. */
export async function migrateAll(url: string): Promise<void> {
    await migrate(url);
    await migrateQueue(url);
}
