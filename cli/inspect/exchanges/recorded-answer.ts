import { isJson } from '../../../shared/domain/json/is-json.ts';
import { isXml } from './xml.ts';

/** The format of an answer, where its media type alone does not determine it. */
export type AnswerFormat = 'ndjson' | 'csv' | 'feed';

export interface RecordedAnswer {
    /** The media type without parameters, in lower case; '' if unknown. Lines of JSON and JSONP have that of JSON. */
    type: string;
    /** Undefined if the recording has no body or the body is no text. */
    text: string | undefined;
    format?: AnswerFormat;
}

/** Reads an answer by its content: XHTML is a page, and lines of JSON and JSONP are JSON. */
export function readRecorded(type: string, text: string | undefined, url: URL): RecordedAnswer & { callback?: string } {
    if (text === undefined) return { type, text };
    if (/xml$/.test(type) && XHTML.test(text)) return { type: 'text/html', text };
    if (isXml(type) && isFeed(text)) return { type, text, format: 'feed' };
    if (TABLES.test(type)) return { type, text, format: 'csv' };
    if (LINES.test(type) || (/json$/.test(type) && isJsonLines(text))) {
        const items = jsonLines(text);
        return items === undefined
            ? { type, text }
            : { type: 'application/json', text: `{"items":[${items.join(',')}]}`, format: 'ndjson' };
    }
    if (!/(?:java|ecma)script$/.test(type)) return { type, text };
    const called = readJsonp(text, url);
    return called === undefined ? { type, text } : { type: 'application/json', text: called.json, callback: called.name };
}

const XHTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html\b[^>]*>\s*)?<html\b/i;
const TABLES = /^(?:text\/(?:csv|tab-separated-values)|application\/csv)$/;
const LINES = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json-seq)$/;

/** The part of a document that has its root, in characters. */
const HEAD = 4000;

/** Whether XML is a feed that a package can read: RSS, RDF or Atom, without a document type. Entries of OData have other data. */
function isFeed(text: string): boolean {
    const [, root = ''] = /<((?:rss|rdf:RDF|feed)\b[^>]*)>/.exec(text.slice(0, HEAD)) ?? [];
    if (root === '' || /<!DOCTYPE/i.test(text.slice(0, HEAD))) return false;
    if (/^rss\b/.test(root)) return /<channel\b/.test(text.slice(0, HEAD));
    return /purl\.org\/rss\//.test(root) || (/w3\.org\/2005\/Atom/.test(root) && !/<m:properties\b/.test(text));
}

/** Whether a text with the type of JSON begins with two values on separate lines. */
function isJsonLines(text: string): boolean {
    const [first = '', second = ''] = text
        .slice(0, HEAD)
        .split('\n')
        .filter((line) => line.trim() !== '');
    return /^\s*\{/.test(second) && /^\{.*\}\s*$/.test(first);
}

/** The values of the lines of a text; undefined if a line is not JSON. */
function jsonLines(text: string): string[] | undefined {
    const lines = text.split(/[\n\u001e]/).filter((line) => line.trim() !== '');
    return lines.every(isJson) ? lines : undefined;
}

/** The JSON that a script gives to the function that a param of its address names (JSONP), and the name of this param. */
function readJsonp(text: string, { searchParams }: URL): { name: string; json: string } | undefined {
    for (const [name, value] of searchParams) {
        const start = value === '' ? -1 : text.slice(0, HEAD).indexOf(`${value}(`);
        if (start === -1 || !/^[\s;]*(?:\/\*[^*]*\*\/)?(?:[\s\w$.='"]+&&)?\s*$/.test(text.slice(0, start))) continue;
        const json = text.slice(start + value.length + 1, text.lastIndexOf(')'));
        if (isJson(json)) return { name, json };
    }
    return undefined;
}
