import { load } from 'cheerio';
import TurndownService from 'turndown';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';
import type { ReadBody } from './read-page.ts';

/**
 * A page of HTML: what `select` takes from it, or the whole page.
 * @throws InvalidResponse
 */
export const readHtmlBody: ReadBody = (text, { url }, { select }) => {
    if (text.trim() === '') throw new InvalidResponse('The answer is an empty page.');
    return typeof select === 'object' ? selectHtml(text, select) : readWholePage(text, url);
};

/**
 * Runs `select` over HTML in the form of cheerio's `extract`; what is not there becomes null.
 * @throws InvalidResponse where a selector fails
 */
function selectHtml(html: string, select: JsonObject): JsonObject {
    try {
        const found: object = load(html).extract(select as Parameters<ReturnType<typeof load>['extract']>[0]);
        return JSON.parse(JSON.stringify(found, (_key, value: unknown) => (value === undefined ? null : value))) as JsonObject;
    } catch {
        throw new InvalidResponse('The select expression does not fit the answer.', [
            { path: '/select', code: 'INVALID_VALUE', message: 'A selector cannot be run over this page.' },
        ]);
    }
}

/** Nodes whose text is nothing that a reader of the page sees. */
const UNSEEN = 'script,style,noscript,template,iframe,object,embed,svg,canvas,head,link,meta,dialog:not([open]),[hidden]';

/** A page without `select`: `{url, title, description, markdown, links}` (CONTRACT 3.1), links absolute, null for what is missing. */
function readWholePage(html: string, url: string): JsonObject {
    const $ = load(html);
    const base = absolute($('base[href]').attr('href'), url) ?? url;
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
