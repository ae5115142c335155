import { parseSiteUrl } from '../../shared/domain/site/parse-site-url.ts';

/**
 * The target of the first link with the relation `next` in a Link header (RFC 8288), absolute and without its fragment.
 * @param header as Node decodes it: several headers joined by commas, one character for each byte
 * @param base the URL of the page
 */
export function nextLink(header: string | undefined, base: string): string | undefined {
    if (header === undefined) return undefined;
    for (const { target, params } of linksOf(header)) {
        const relations = (params.get('rel') ?? '').toLowerCase().split(/\s+/);
        // A link with an anchor describes another page (RFC 8288, section 3.2).
        if (!relations.includes('next') || params.has('anchor')) continue;
        const url = parseSiteUrl(Buffer.from(target, 'latin1').toString('utf8'), base);
        if (url === undefined) continue;
        url.hash = '';
        return url.href;
    }
    return undefined;
}

interface Link {
    target: string;
    params: ReadonlyMap<string, string>;
}

/**
 * `<target>`, then params up to a comma outside of quotes. Each alternative begins with a different character, and an unclosed quote
 * extends to the end, so matching takes linear time.
 */
const LINK = /<([^<>]*)>((?:"(?:[^"\\]|\\.)*"|[^",])*)(?:"(?:[^"\\]|\\.)*\\?$)?/g;
const PARAM = /;\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?/g;

function* linksOf(header: string): Generator<Link> {
    for (const [, target = '', rest = ''] of header.matchAll(LINK)) {
        const params = new Map<string, string>();
        for (const [, name = '', quoted, plain = ''] of rest.matchAll(PARAM)) {
            const key = name.toLowerCase();
            // The first of equal params counts.
            if (!params.has(key)) params.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain);
        }
        yield { target, params };
    }
}
