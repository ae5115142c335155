/**
 * The target of the first link with the relation `next` in a Link header (RFC 8288), absolute and without its fragment.
 * @param header as Node gives it: several headers joined by commas, one character a byte
 * @param base where the page came from
 */
export function nextLink(header: string | undefined, base: string): string | undefined {
    if (header === undefined) return undefined;
    for (const { target, params } of linksOf(header)) {
        const relations = (params.get('rel') ?? '').toLowerCase().split(/\s+/);
        // A link with an anchor speaks of another page than this one.
        if (!relations.includes('next') || params.has('anchor')) continue;
        const url = URL.parse(Buffer.from(target, 'latin1').toString('utf8'), base);
        if (url === null) continue;
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
 * `<target>`, then params up to a comma outside of quotes. Every alternative begins with another character, and a quotation that nobody
 * closes goes to the end, so that time is linear.
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
