import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import type { Asked, Reply } from './internet.ts';

const PACKAGES = new URL('../../schemas/', import.meta.url);
const FIXTURES = new URL('../fixtures/starter/', import.meta.url);

interface Exchange {
    request: Omit<Asked, 'host'>;
    answer: Reply;
}

/** One call of an endpoint: the request, the documented response of the site, and the expected `data`. */
export interface Sample extends Exchange {
    endpoint: string;
    params: JsonObject;
    expect: JsonObject;
    /** The further pages of a paginated endpoint. */
    then?: Exchange[];
}

interface Fixture {
    site: string;
    documentation: string[];
    basis: string;
    note: string;
    answers: Sample[];
}

/** A package of the starter registry with the responses to test it with. */
interface Starter {
    document: PackageDocument;
    fixture: Fixture;
}

/** The starter registry, in the order of its files. */
export const STARTERS: readonly Starter[] = readdirSync(PACKAGES)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ document: readJson<PackageDocument>(new URL(file, PACKAGES)), fixture: readJson<Fixture>(new URL(file, FIXTURES)) }));

/** The rows of the README's table, by site. */
export const README_ROWS: ReadonlyMap<string, string> = new Map(
    readFileSync(new URL('README.md', PACKAGES), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .map((line) => [line.split('|')[1]?.trim() ?? '', line]),
);

function readJson<T>(url: URL): T {
    return JSON.parse(readFileSync(url, 'utf8'));
}
