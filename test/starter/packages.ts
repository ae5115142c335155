import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import type { Asked, Reply } from './internet.ts';

const PACKAGES = new URL('../../schemas/', import.meta.url);
const FIXTURES = new URL('../fixtures/starter/', import.meta.url);

interface Exchange {
    request: Omit<Asked, 'host'>;
    answer: Reply;
}

/** One call of an endpoint: what has to be sent, what the site's documentation says it answers, and the `data` of that. */
export interface Sample extends Exchange {
    endpoint: string;
    params: JsonObject;
    expect: JsonObject;
    /** The further pages of an endpoint that follows pages. */
    then?: Exchange[];
}

export interface Fixture {
    site: string;
    documentation: string[];
    basis: string;
    note: string;
    answers: Sample[];
}

/** A package of the starter registry with the answers to test it against. */
export interface Starter {
    document: PackageDocument;
    fixture: Fixture;
}

/** The starter registry, in the order of its files. */
export const STARTERS: readonly Starter[] = readdirSync(PACKAGES)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({ document: readJson<PackageDocument>(new URL(file, PACKAGES)), fixture: readJson<Fixture>(new URL(file, FIXTURES)) }));

/** The README's table: a row by site. */
export const README_ROWS: ReadonlyMap<string, string> = new Map(
    readFileSync(new URL('README.md', PACKAGES), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .map((line) => [line.split('|')[1]?.trim() ?? '', line]),
);

function readJson<T>(url: URL): T {
    return JSON.parse(readFileSync(url, 'utf8'));
}
