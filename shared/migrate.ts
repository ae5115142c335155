import { migrate } from './db.ts';
import { migrateQueue } from './queue.ts';

/** Brings the database at `url` up to date: our tables, and the queue's own schema beside them. */
export async function migrateAll(url: string): Promise<void> {
    await migrate(url);
    await migrateQueue(url);
}
