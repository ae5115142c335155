import { readConfig, requireDatabase } from '../shared/config.ts';
import { migrate } from '../shared/db.ts';
import { migrateQueue } from '../shared/queue.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const { databaseUrl } = requireDatabase(readConfig());
    await migrate(databaseUrl);
    await migrateQueue(databaseUrl);
    process.stdout.write('the database is up to date\n');
});
