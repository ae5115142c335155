import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';

interface HarEntry {
    request: { method: string; url: string };
    response: { status: number; content: { mimeType?: string; text?: string; encoding?: string } };
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

/** Stores a browser's recording, without credentials in headers, scripts, styles, images and temporary folders of the machine. */
export function keepRecording(har: string, file: string): void {
    const text = har
        .replaceAll(/(\/|%2F)(?:tmp\1[\w.-]+|root\b)/g, '$1srv$1application')
        .replaceAll(/("name":\s*"authorization",\s*"value":\s*"\w+ )[^"]*/gi, `$1${Buffer.from('Keeper:placeholder').toString('base64')}`);
    const { log } = JSON.parse(text) as { log: { entries: HarEntry[] } };
    const entries = log.entries.filter(
        (entry) => entry._resourceType === 'document' || !UNREAD.test(entry.response.content.mimeType ?? ''),
    );
    for (const { response } of entries) {
        const html = htmlOf(response);
        if (html === undefined) continue;
        const { encoding: _, ...content } = response.content;
        response.content = { ...content, text: withoutScripts(html) };
    }
    writeFileSync(file, gzipSync(JSON.stringify({ log: { ...log, entries } }), { level: 9 }));
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
    if (!/html/.test(mimeType) || text === undefined) return undefined;
    return encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
}

function withoutScripts(html: string): string {
    return html.replaceAll(
        /(<(script|style)\b[^>]*>)([\s\S]*?)(<\/\2>)/gi,
        (whole, open: string, tag: string, inside: string, close: string) =>
            tag.toLowerCase() === 'style' || inside.length > MAX_SCRIPT ? `${open}${close}` : whole,
    );
}
