import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';

interface Header {
    name: string;
    value: string;
}

interface HarEntry {
    request: { method: string; url: string; headers: Header[]; postData?: { text?: string } };
    response: { headers: Header[]; status: number; content: { mimeType?: string; text?: string; encoding?: string } };
    _resourceType?: string;
}

/** One page of a recording. */
export interface RecordedPage {
    url: string;
    html: string;
}

const FOLDER = join(import.meta.dirname, '../../fixtures/inspect/recordings');
/** Longer scripts are the program of a page, not its data. */
const MAX_SCRIPT = 20_000;
/** The inspector reads none of these. */
const UNREAD = /javascript|css|image|font|wasm|octet/;
const DRESSING = /^(?:stylesheet|image|font)$/;

/** Stores a browser's recording, without the credentials of headers, cookies and passwords, scripts, styles, images and temporary folders of the machine. */
export function keepRecording(har: string, file: string): void {
    const unsigned = har.replaceAll(/(?<=:\/\/)[\w.-]+:[^/@\s"]+@/g, '');
    const text = withoutCredentials(unsigned.replaceAll(/(\/|%2F)(?:tmp\1[\w.-]+|root(?![\w.-]))/g, '$1srv$1application'));
    const { log } = JSON.parse(text) as { log: { entries: HarEntry[] } };
    const entries = log.entries.filter(
        ({ _resourceType: resource = '', response }) =>
            resource === 'document' || !(UNREAD.test(response.content.mimeType ?? '') || DRESSING.test(resource)),
    );
    for (const { response } of entries) {
        const html = htmlOf(response);
        if (html === undefined) continue;
        const { encoding: _, ...content } = response.content;
        response.content = { ...content, text: withoutScripts(html) };
    }
    writeFileSync(file, gzipSync(JSON.stringify({ log: { ...log, entries } }), { level: 9 }));
}

const CREDENTIAL_HEADER = /^(?:(?:set-)?cookie|authorization|x-(?!requested-with).*(?:request|token|csrf))/i;
const PASSWORD = /(?:pass|pwd|\bp(?==))[^=&:]*?(?:=|"\s*:\s*")([^&"]{8,})/gi;
const SECRET = /"(?:password_hash|key_?secret)"\s*:\s*"([^"]+)"/gi;

/** Replaces credentials wherever the recording repeats them, each by one placeholder of the same shape. Shorter values are choices and marks. */
export function withoutCredentials(har: string): string {
    const { log } = JSON.parse(har) as { log: { entries: HarEntry[] } };
    const secrets = log.entries.flatMap(({ request, response }) => [
        ...[...request.headers, ...response.headers]
            .filter(({ name }) => CREDENTIAL_HEADER.test(name))
            .flatMap(({ name, value }) => {
                const pairs = /^set-cookie$/i.test(name) ? value.split('\n').map((line) => line.split(';')[0] ?? '') : value.split(/;\s*/);
                return pairs.map((pair) => (/cookie$/i.test(name) ? pair.slice(pair.indexOf('=') + 1) : pair.replace(/^\w+ /, '')));
            })
            .filter((value) => value.length >= 16),
        ...[...`${request.url} ${request.postData?.text ?? ''}`.matchAll(PASSWORD)]
            .map(([, value = '']) => value)
            .filter((value) => /\d/.test(value)),
        ...[...(response.content.text ?? '').matchAll(SECRET)].map(([, value = '']) => value),
    ]);
    const known = new Set(secrets.flatMap((value) => [value, decoded(value)]));
    return [...known]
        .filter((value) => !/^(?:planted|placeholder)/.test(value))
        .sort((one, other) => other.length - one.length)
        .reduce((text, value) => text.replaceAll(value, () => placeholderOf(value)), har);
}

function decoded(value: string): string {
    return new URLSearchParams(`a=${value.replaceAll('&', '%26')}`).get('a') ?? value;
}

/** Letters for letters and digits for digits, escapes as they are; a hexadecimal value stays one. */
function placeholderOf(value: string): string {
    const bytes = createHash('sha512').update(value).digest();
    return (value.match(/%[\dA-F]{2}|./gis) ?? [])
        .map((char, at) => {
            if (char.length > 2) return char;
            const kind = ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEF', 'GHIJKLMNOPQRSTUVWXYZ'].find((all) =>
                all.includes(char),
            );
            return kind?.[(bytes[at % bytes.length] ?? 0) % kind.length] ?? char;
        })
        .join('');
}

/** The recording of an application, as input of `inspect`. */
export function openRecording(application: string): Readable {
    return Readable.from([recordingOf(application)]);
}

/** The pages that an application returned for a GET. */
export function pagesOf(application: string): RecordedPage[] {
    const { log } = JSON.parse(recordingOf(application).toString()) as { log: { entries: HarEntry[] } };
    return log.entries.flatMap(({ request, response }) => {
        const html = request.method === 'GET' && response.status === 200 ? htmlOf(response) : undefined;
        return html === undefined ? [] : [{ url: request.url, html }];
    });
}

function recordingOf(application: string): Buffer {
    return gunzipSync(readFileSync(join(FOLDER, `${application}.har.gz`)));
}

function htmlOf({ content: { mimeType = '', text, encoding } }: HarEntry['response']): string | undefined {
    if (!/html|xml/.test(mimeType) || text === undefined) return undefined;
    const whole = encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
    return /html/.test(mimeType) || /^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype )?html\b/i.test(whole) ? whole : undefined;
}

function withoutScripts(html: string): string {
    return html.replaceAll(
        /(<(script|style)\b[^>]*>)([\s\S]*?)(<\/\2>)/gi,
        (whole, open: string, tag: string, inside: string, close: string) =>
            tag.toLowerCase() === 'style' || inside.length > MAX_SCRIPT ? `${open}${close}` : whole,
    );
}
