import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openSite, type Site } from '../support/sites.ts';

/** A site that repeats its credential in every possible place. */
export interface ConfidingSite extends Site {
    /** Hosts and requests that contained a text, decoded. */
    gotAt(text: string): Set<string>;
    /** Resolves when this many calls wait for their responses. */
    waiting(count: number): Promise<void>;
    /** Answers all waiting calls of /held, and later ones. */
    letGo(): void;
    /** Answers 401 to a credential from now on. */
    refuses(text: string): void;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** @param other a host that gets no credential */
export async function openConfidingSite(other: () => string): Promise<ConfidingSite> {
    const waiting = new Set<ServerResponse>();
    const refused = new Set<string>();
    const news = new EventTarget();
    let isHeld = true;
    const site = await openSite((request, response) => {
        const text = credentialIn(request);
        const url = new URL(request.url ?? '/', 'http://site.invalid');
        const answer = () =>
            response.writeHead(refused.has(text) ? 401 : 200, { ...JSON_TYPE, 'cache-control': 'max-age=600' }).end(repeat(text));
        switch (url.pathname) {
            case '/held':
                if (!isHeld) return void answer();
                waiting.add(response);
                news.dispatchEvent(new Event('call'));
                return;
            case '/redirect':
                return void response.writeHead(302, { location: `${other()}/?a=1&back=${encodeURIComponent(text)}` }).end();
            case '/redirect-path':
                return void response.writeHead(302, { location: `${other()}/${encodeURIComponent(text)}` }).end();
            case '/status':
                return void response
                    .writeHead(Number(url.searchParams.get('code')), { ...JSON_TYPE, 'x-key': Buffer.from(text).toString('base64') })
                    .end(repeat(text));
            case '/broken':
                return void response.writeHead(200, JSON_TYPE).end(`{"half":${JSON.stringify(text)}`);
            case '/page':
                return void response
                    .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'set-cookie': `seen=${encodeURIComponent(text)}` })
                    .end(`<title>${escapeHtml(text)}</title><p data-key="${escapeHtml(text)}">${escapeHtml(text)}</p>`);
            case '/numbers':
                return void response.writeHead(200, JSON_TYPE).end(`{"n":${/^\d+$/.test(text) ? text : '1'}}`);
            case '/in-hex':
                return void response.writeHead(200, JSON_TYPE).end(JSON.stringify({ hex: Buffer.from(text).toString('hex') }));
            default:
                return void answer();
        }
    });
    return {
        ...site,
        gotAt: (text) =>
            new Set(
                site.seen
                    .filter(({ path, rawHeaders, body }) => [path, body, ...rawHeaders].some((given) => holds(given, text)))
                    .map(({ headers }) => String(headers.host).replace(/:\d+$/, '')),
            ),
        async waiting(count) {
            while (waiting.size < count) await once(news, 'call');
        },
        letGo() {
            isHeld = false;
            for (const response of waiting) if (!response.destroyed) response.writeHead(200, JSON_TYPE).end('{"held":true}');
            waiting.clear();
        },
        refuses: (text) => void refused.add(text),
    };
}

function holds(given: string, text: string): boolean {
    if (given.includes(text) || given.includes(encodeURIComponent(text))) return true;
    const [, basic] = /^Basic (\S+)$/.exec(given) ?? [];
    return basic !== undefined && Buffer.from(basic, 'base64').toString().includes(text);
}

/** The credential of a request, wherever it is. */
function credentialIn({ url = '/', headers }: IncomingMessage): string {
    const { authorization = '', cookie = '' } = headers;
    const [, basic] = /^Basic (\S+)$/.exec(authorization) ?? [];
    if (basic !== undefined)
        return Buffer.from(basic, 'base64')
            .toString()
            .replace(/^[^:]*:/, '');
    const inQuery = new URL(url, 'http://site.invalid').searchParams.get('api_key');
    return (
        inQuery ??
        (headers['x-api-key'] as string | undefined) ??
        (authorization.replace(/^(Bearer|token) /, '') || cookie.replace(/^.*?sid=([^;]*).*$/, '$1'))
    );
}

/** All encodings that are masked, in values, names and texts of a JSON text. */
function repeat(text: string): string {
    const all = { plain: text, base64: Buffer.from(text).toString('base64'), percent: encodeURIComponent(text) };
    const sentence = `Your key ${text} was used.`;
    return JSON.stringify({
        ...all,
        [`name ${text}`]: 1,
        sentence,
        list: [text, [sentence]],
        nested: JSON.stringify({ ...all, sentence }),
    });
}

function escapeHtml(text: string): string {
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
