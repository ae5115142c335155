import { migrateAll } from '../shared/migrate.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const { databaseUrl } = requireDatabase(readConfig());
    await migrateAll(databaseUrl);
    process.stdout.write('the database is up to date\n');
});
