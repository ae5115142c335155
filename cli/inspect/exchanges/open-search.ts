import { load } from 'cheerio';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { Exchange } from './exchange.ts';

/** One search of a site, from its OpenSearch description document. */
export interface OpenSearch {
    /** An address of the search, with a letter in place of each placeholder. */
    address: URL;
    /** The document's description; '' if it has none. */
    about: string;
    /** Meanings of the query params by name, and of the path placeholders in order. */
    query: Map<string, string>;
    path: string[];
}

/** The placeholders of OpenSearch 1.1. */
const MEANINGS: Readonly<Record<string, string>> = {
    searchTerms: 'Words to look for.',
    count: 'The number of results to return.',
    startIndex: 'Which result to begin with, by number.',
    startPage: 'Which page of the results, by number.',
    language: 'The language of the results, such as en.',
    inputEncoding: 'The encoding of the words, such as UTF-8.',
    outputEncoding: 'The encoding of the answer, such as UTF-8.',
};

const PLACEHOLDER = /\{([A-Za-z:]+)\??\}/;
const MAX_DOCUMENT = 100_000;
const MAX_SEARCHES = 10;
const MAX_LENGTH = 200;

/** Whether an exchange fetched an OpenSearch description document. */
export function isOpenSearch({ status, answer: { type, text } }: Exchange): boolean {
    return status === 200 && /xml/.test(type) && /<OpenSearchDescription\b/.test(text?.slice(0, 1000) ?? '');
}

/** The searches of an OpenSearch description document, without those that use POST. */
export function readOpenSearch({ url, answer: { text = '' } }: Exchange): OpenSearch[] {
    const $ = load(text.slice(0, MAX_DOCUMENT), { xml: true });
    const texts = ['LongName', 'Description'].map((tag) => $(tag).first().text().slice(0, MAX_LENGTH).replaceAll(/\s+/g, ' ').trim());
    const about = texts.find((one) => /\s/.test(one)) ?? '';
    const searches = $('Url[template]').not('[method="post" i]').toArray().slice(0, MAX_SEARCHES);
    return searches.flatMap(({ attribs: { template = '' } }) => {
        const written = URL.parse(template, url);
        const address = URL.parse(template.replaceAll(new RegExp(PLACEHOLDER, 'g'), 'x'), url);
        if (written === null || address === null) return [];
        const query = new Map(
            [...written.searchParams].flatMap(([name, value]) => meaningOf(value).map((meaning) => [name, meaning] as const)),
        );
        return [{ address, about, query, path: written.pathname.split('/').flatMap((segment) => meaningOf(percentDecode(segment))) }];
    });
}

/** The meaning of the placeholder in a part of a template; '' for an unknown placeholder. */
function meaningOf(part: string): string[] {
    const found = PLACEHOLDER.exec(part)?.[1];
    return found === undefined ? [] : [MEANINGS[found] ?? ''];
}
