import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { holdsCredential, namesCredential, personalKind } from '../words/harmless.ts';
import type { Exchange } from './exchange.ts';
import type { Ledger } from './report.ts';

/** Headers that identify a person. Their values are removed. */
const PRIVATE_HEADERS = /^(?:cookie2?|set-cookie2?|authorization|proxy-authorization|x-forwarded-.*|x-real-ip|.*client-ip|from)$/;
/** Larger bodies are not searched for the report. Only words of the program in them enter a draft, such as names of actions. */
const MAX_SEARCHED = 200_000;
const MAX_LEVELS = 12;

/**
 * Removes credentials from an exchange as soon as it is read: headers, query params and request body fields whose name or value says that
 * they are credentials. The report lists removed credentials and personal data by place and kind, never by value.
 */
export function redact(exchange: Exchange, ledger: Ledger): Exchange {
    const { place } = exchange;
    const note = (where: string, kind: string) => ledger.redact(where, kind, place);
    return {
        ...exchange,
        url: withoutCredentials(exchange.url, note),
        requestHeaders: safeHeaders(exchange.requestHeaders, 'request', note),
        answerHeaders: safeHeaders(exchange.answerHeaders, 'answer', note),
        body: exchange.body === undefined ? undefined : { ...exchange.body, text: redactBody(exchange.body, note) },
        answer: { ...exchange.answer, text: reportAnswer(exchange.answer, note) },
    };
}

type Note = (where: string, kind: string) => void;

function safeHeaders(headers: Map<string, string>, side: string, note: Note): Map<string, string> {
    const kept = new Map<string, string>();
    for (const [name, value] of headers) {
        const isPrivate = PRIVATE_HEADERS.test(name) || (namesCredential(name) && !name.startsWith('access-control-'));
        const kind = isPrivate ? 'a credential' : findSecrets(`${name}: ${value.slice(0, 2000)}`)?.kind;
        if (kind === undefined) kept.set(name, value);
        else note(`${side} header ${plain(name)}`, kind);
    }
    return kept;
}

function withoutCredentials(url: URL, note: Note): URL {
    const clean = new URL(url);
    if (clean.username !== '' || clean.password !== '') note('user name and password in the URL', 'a credential');
    clean.username = '';
    clean.password = '';
    clean.hash = '';
    if (!clean.search.includes('=')) return clean;
    const kept: string[] = [];
    for (const pair of clean.search.slice(1).split('&')) {
        const [name = '', value = ''] = [...new URLSearchParams(pair)][0] ?? [];
        const kind = holdsCredential(name, url.searchParams) ? 'a credential' : findSecrets(`${name}=${value}`)?.kind;
        if (kind === undefined) {
            kept.push(pair);
            const personal = personalKind(value);
            if (personal !== undefined) note(`query param ${plain(name)}`, personal);
        } else note(`query param ${plain(name)}`, kind);
    }
    clean.search = kept.join('&');
    return clean;
}

function redactBody({ type, text }: { type: string; text: string }, note: Note): string {
    if (type === 'application/x-www-form-urlencoded') {
        const kept = new URLSearchParams();
        const fields = new URLSearchParams(text);
        for (const [name, value] of fields) {
            const kind = value !== '' && holdsCredential(name, fields) ? 'a credential' : kindOf(name, value);
            if (kind !== undefined) note(`field ${plain(name)} of the request body`, kind);
            // The name shows the inspector that the form needs a token. A package cannot send a form with a password.
            kept.append(name, kind === undefined || !isCredential(kind) ? value : '');
        }
        return kept.toString();
    }
    const parsed = parseJson(text);
    if (parsed === undefined) return text;
    return JSON.stringify(clean(parsed, 'the request body', note, 0, true));
}

/** Returns the text unchanged, since only types are kept from responses. The report lists the credentials in it. */
function reportAnswer({ type, text }: Exchange['answer'], note: Note): string | undefined {
    if (text === undefined || !/json/.test(type) || text.length > MAX_SEARCHED) return text;
    const parsed = parseJson(text);
    if (parsed !== undefined) clean(parsed, 'the answer', note, 0, false);
    return text;
}

function clean(value: Json, where: string, note: Note, level: number, takesOut: boolean, name = ''): Json {
    if (typeof value === 'string') {
        const kind = kindOf(name, value);
        if (kind === undefined) return value;
        note(name === '' ? where : `field ${plain(name)} of ${where}`, kind);
        return takesOut && isCredential(kind) ? '' : value;
    }
    if (level > MAX_LEVELS || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => clean(item, where, note, level + 1, takesOut, name));
    const out: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
        if (takesOut && level === 0 && holdsCredential(key, new Set(Object.keys(value))))
            note(`field ${plain(key)} of ${where}`, 'a credential');
        else if (key !== '__proto__') out[key] = clean(item, where, note, level + 1, takesOut, key);
    }
    return out;
}

function kindOf(name: string, value: string): string | undefined {
    if (value === '') return undefined;
    if (namesCredential(name)) return 'a credential';
    return findSecrets(value.slice(0, 4000))?.kind ?? personalKind(value);
}

function isCredential(kind: string): boolean {
    return !PERSONAL_KINDS.has(kind);
}

const PERSONAL_KINDS: ReadonlySet<string> = new Set(['a mail address', 'a phone number', 'a bank account', 'a card number']);

/** Parses a text as JSON; `undefined` if it is not JSON, which the first character usually shows. */
export function parseJson(text: string): Json | undefined {
    const start = text.slice(0, 64).trimStart()[0];
    if (start === undefined || !/[[{"\dtfn-]/.test(start)) return undefined;
    try {
        const value: unknown = JSON.parse(text);
        return isObject(value) || Array.isArray(value) || typeof value !== 'object' ? (value as Json) : null;
    } catch {
        return undefined;
    }
}

/** A name that a report may repeat. A name that contains a value is left out. */
function plain(name: string): string {
    const shown = name.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 60);
    return shown === '' || VALUE_IN_NAME.test(name.slice(0, 200)) || findSecrets(name) !== undefined || personalKind(name) !== undefined
        ? '…'
        : shown;
}

/** Many digits, or a digit in a long word: also what `findSecrets` calls a token only with the value beside it. */
const VALUE_IN_NAME = /\d{4}|(?=[a-z]*\d)[a-z\d]{20}/i;
