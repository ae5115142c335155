import { type CheerioAPI, load } from 'cheerio';
import TurndownService from 'turndown';
import { loginSign } from '../../shared/domain/fetch/login-words.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { essenceOf } from './content-type.ts';
import { cannotSelect, InvalidResponse } from './invalid-response.ts';
import type { NextFound, ParseBody } from './parse-page.ts';
import { runSelector, selectHtml } from './select-html.ts';

/** Parses a page of HTML. The value is the selection, or the whole page. @throws InvalidResponse */
export const parseHtml: ParseBody = (text, { url, contentType }) => {
    const $ = loadHtml(text, contentType);
    const signs = $(`title, h1, ${PASSWORD}`);
    const texts = ['title', 'h1'].map((name) => signs.filter(name).first().text());
    return {
        login: loginSign(signs.is(PASSWORD), [...texts, URL.parse(url)?.pathname ?? '']),
        next: (selector) => findNext($, selector, url),
        value({ select }) {
            if (typeof select === 'string') throw cannotSelect('/select', 'The answer is HTML, and this expression is for JSON.');
            return select === undefined ? readWholePage($, url) : selectHtml($, select, baseOf($, url));
        },
    };
};

const PASSWORD = 'input[type="password" i]';

/** @throws InvalidResponse for an empty page */
export function loadHtml(text: string, contentType?: string): CheerioAPI {
    if (text.trim() === '') throw new InvalidResponse('The answer is an empty page.');
    return load(essenceOf(contentType) === 'application/xhtml+xml' ? withEndTags(text) : text);
}

/** Elements that never have an end tag in HTML. */
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** Writes the end tags of XHTML that a slash stands for. HTML ignores it: all after `<script src="a.js"/>` would be part of the script. */
function withEndTags(xhtml: string): string {
    return xhtml.replaceAll(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (whole, name: string, attributes: string) =>
        VOID.test(name) ? whole : `<${name}${attributes}></${name}>`,
    );
}

/** The base URL of a page's relative links. */
export function baseOf($: CheerioAPI, url: string): string {
    return absolute($('base[href]').attr('href'), url) ?? url;
}

/** The first match: the URL of a link, else its `value` or `content` attribute, else its text. */
export function findNext($: CheerioAPI, selector: string, url: string): NextFound | undefined {
    const element = runSelector('/pagination/next', () => $(selector).first());
    if (element.length === 0) return undefined;
    const href = element.attr('href');
    if (href !== undefined) {
        // A link within the page, such as `#` on the last page, leads to the page itself.
        const target = absolute(href, baseOf($, url))?.replace(/#.*$/, '');
        return target === undefined ? undefined : { href: target };
    }
    return { value: element.attr('value') ?? element.attr('content') ?? element.text().trim() };
}

/** Elements whose text is not visible on the page. */
const UNSEEN = 'script,style,noscript,template,iframe,object,embed,svg,canvas,head,link,meta,dialog:not([open]),[hidden]';

/** The value of a page without `select`: `{url, title, description, markdown, links}` (docs/api.md, "Schema packages"). Links are absolute; missing values are null. */
function readWholePage($: CheerioAPI, url: string): JsonObject {
    const base = baseOf($, url);
    const title = textOrNull($('title').first().text());
    const description = textOrNull($('meta[name="description" i], meta[property="og:description" i]').first().attr('content'));
    $(UNSEEN).remove();
    for (const [selector, attribute] of [
        ['a[href]', 'href'],
        ['img[src]', 'src'],
    ] as const) {
        for (const element of $(selector)) {
            const target = absolute($(element).attr(attribute), base);
            if (target === undefined) $(element).removeAttr(attribute);
            else $(element).attr(attribute, target);
        }
    }
    const links = $('a[href]')
        .toArray()
        .map((link): Json => ({ href: $(link).attr('href') ?? null, text: textOrNull($(link).text()) }));
    const markdown = textOrNull(markdownWriter().turndown($('body').html() ?? ''), false);
    return { url, title, description, markdown, links };
}

function absolute(href: string | undefined, base: string): string | undefined {
    if (href === undefined) return undefined;
    const url = URL.parse(href, base);
    return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}

function textOrNull(text: string | undefined, isOneLine = true): string | null {
    const trimmed = (isOneLine ? text?.replace(/\s+/g, ' ') : text)?.trim();
    return trimmed === undefined || trimmed === '' ? null : trimmed;
}

let writer: TurndownService | undefined;

function markdownWriter(): TurndownService {
    writer ??= new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' });
    return writer;
}
