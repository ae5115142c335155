import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from '../test/hostile/billing-table.ts';

/** Writes the tables of docs/billing.md from the behaviours of sites that the tests use. */
const page = new URL('../docs/billing.md', import.meta.url);
writeFileSync(page, withTables(readFileSync(page, 'utf8')));
