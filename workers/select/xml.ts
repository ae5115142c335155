import { type CheerioAPI, load } from 'cheerio';
import { type Document, DomHandler } from 'domhandler';
import { SaxesParser } from 'saxes';
import { findNext } from './html.ts';
import { cannotSelect, InvalidResponse } from './invalid-response.ts';
import { MAX_DEPTH } from './json.ts';
import type { ParseBody } from './parse-page.ts';
import { selectHtml } from './select-html.ts';

/** Parses XML. The value is the selection, or without `select` the text of the whole document. @throws InvalidResponse */
export const parseXml: ParseBody = (text, { url }) => {
    const $ = loadXml(text);
    return {
        next: (selector) => findNext($, selector, url),
        value({ select }) {
            if (typeof select === 'string') throw cannotSelect('/select', 'The answer is XML, and this expression is for JSON.');
            return select === undefined ? text : selectHtml($, select, url);
        },
    };
};

/** Loads XML. @throws InvalidResponse as `walkXml` */
export function loadXml(text: string): CheerioAPI {
    const handler = new DomHandler(null, { xmlMode: true });
    walkXml(withoutUnfit(text), handler);
    return load(handler.root as Document, { xml: true });
}

/** Characters that XML cannot hold, and references to them. Many feeds have a few, from texts that were pasted into them. */
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[1245-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[\da-f]));/gi;

/** XML without its unfit characters, which readers of feeds leave out, too. */
export function withoutUnfit(text: string): string {
    return text.replaceAll(UNFIT, '');
}

type Handler = Pick<DomHandler, 'onopentag' | 'onclosetag' | 'ontext' | 'onend'>;

const IGNORED: Handler = { onopentag() {}, onclosetag() {}, ontext() {}, onend() {} };

/**
 * Walks over a whole document, without its comments and instructions. Leading whitespace is allowed, because many sites send it.
 * @param handler gets texts and CDATA as texts
 * @throws InvalidResponse for XML that is not well-formed, is nested too deeply, has a document type (DTD), or has an entity other than the
 * five that XML has by itself: nothing ever expands
 */
export function walkXml(text: string, handler: Handler = IGNORED): void {
    const parser = new SaxesParser({ xmlns: false });
    let depth = 0;
    const unfit = () => new InvalidResponse(`The answer is not well-formed XML at line ${parser.line}.`);
    parser.on('error', () => {
        throw unfit();
    });
    parser.on('doctype', () => {
        throw new InvalidResponse('The answer has a document type (DTD), which is not read.');
    });
    parser.on('opentag', ({ name, attributes }) => {
        if (++depth > MAX_DEPTH)
            throw new InvalidResponse(`The answer nests more than ${MAX_DEPTH} levels deep.`, [], 'UPSTREAM_TOO_LARGE');
        handler.onopentag(name, attributes);
    });
    parser.on('closetag', () => {
        depth--;
        handler.onclosetag();
    });
    parser.on('text', (piece) => handler.ontext(piece));
    parser.on('cdata', (piece) => handler.ontext(piece));
    parser.write(text.trimStart()).close();
    handler.onend();
}
