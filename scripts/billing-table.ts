import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from '../test/hostile/billing-table.ts';

/** Writes the tables of docs/billing.md again, from the behaviours that the tests let happen. */
const page = new URL('../docs/billing.md', import.meta.url);
writeFileSync(page, withTables(readFileSync(page, 'utf8')));
