import { type CheerioAPI, load } from 'cheerio';
import { isLoginTitle } from '../../../shared/domain/fetch/login-words.ts';
import { hashOf } from '../words/values.ts';
import { dataOf, type PageData } from './page-data.ts';
import { type Form, readForms } from './page-forms.ts';
import { listsOf, type PageList } from './page-lists.ts';
import { type PageTexts, textsOf } from './page-texts.ts';
import { tokensOf } from './page-tokens.ts';

/** Forms, links and lists of a page. */
export interface Page {
    /** Whether the page has no content of its own, since a script fetches it. */
    isShell: boolean;
    /** Whether this is a sign-in page instead of the requested one: it has a password field, and its heading says so. */
    isLogin: boolean;
    forms: Form[];
    /** Names of the places in a page that contain JSON. */
    embedded: string[];
    lists: PageList[];
    data: PageData[];
    texts: PageTexts;
    /** What the page says of its language, such as `de` or `pt-BR`; '' if nothing. */
    language: string;
    /** CSRF tokens, by their hashes. */
    tokens: ReturnType<typeof tokensOf>;
    /** Hashes of the elements with their classes. Pages of one route have similar sets. */
    skeleton: Set<number>;
}

const MAX_PAGE = 2_000_000;
const MAX_SKELETON = 400;
/** Pages with less visible text have no content. */
const MIN_TEXT_LENGTH = 40;

/** Reads the page at `url`. */
export function readPage(html: string, url: URL): Page {
    const looked = html.slice(0, MAX_PAGE);
    const $ = load(isTooDeep(looked) ? '' : looked);
    const forms = readForms($, url);
    const embedded = embeddedJson($);
    const hasScripts = $('script').length > 0;
    const skeleton = skeletonOf($);
    const isLogin = forms.some(({ asksForPassword }) => asksForPassword) && headingsOf($).some(isLoginTitle);
    const lists = listsOf($);
    const data = dataOf($, embedded, url.href);
    const texts = textsOf($, url);
    const tokens = tokensOf($);
    const language = $('html').attr('lang') ?? '';
    $('script, style, noscript, template, svg, head, pre, code, textarea').remove();
    const hasHeading = $('h1').text().trim() !== '';
    const text = $('body').text().replaceAll(/\s+/g, ' ').trim();
    const isEmpty = hasScripts && forms.length === 0 && !hasHeading && text.length < MIN_TEXT_LENGTH && embedded.length === 0;
    return { isShell: isEmpty || isTemplate(text), isLogin, forms, embedded, lists, data, texts, language, tokens, skeleton };
}

/** Whether a page has several `{{…}}` placeholders for a script to fill. An article may quote one or two. */
function isTemplate(text: string): boolean {
    return text.slice(0, MAX_LOOKED).split('{{').length > MAX_PLACEHOLDERS;
}

const MAX_LOOKED = 400_000;
const MAX_PLACEHOLDERS = 5;

/** Whether the elements are nested so deeply that parsing takes too long. Elements that need no closing tag do not count. */
function isTooDeep(html: string): boolean {
    let depth = 0;
    for (const [, close, tag = ''] of html.matchAll(/<(\/?)([a-z][a-z\d-]{0,40})/gi)) {
        if (UNCLOSED.has(tag.toLowerCase())) continue;
        depth = close === '/' ? Math.max(0, depth - 1) : depth + 1;
        if (depth > MAX_DEPTH) return true;
    }
    return false;
}

const MAX_DEPTH = 1000;
const UNCLOSED: ReadonlySet<string> = new Set(
    (
        'area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th thead tbody tfoot colgroup ' +
        'html head body rp rt path circle rect line use'
    ).split(' '),
);

function headingsOf($: CheerioAPI): string[] {
    return ['title', 'h1', 'h2', 'legend'].map((tag) => $(tag).first().text());
}

function skeletonOf($: CheerioAPI): Set<number> {
    const skeleton = new Set<number>();
    for (const element of $('body *').toArray()) {
        if (skeleton.size >= MAX_SKELETON) break;
        const classes = ($(element).attr('class') ?? '').split(/\s+/).filter((name) => !/\d{3}/.test(name));
        skeleton.add(hashOf(`${element.tagName}.${classes.sort().join('.')}`));
        // Pages that look alike may ask for different things.
        const input = /^(?:input|select|textarea)$/.test(element.tagName) ? ($(element).attr('name') ?? '') : '';
        if (input !== '') skeleton.add(hashOf(`:${input.replaceAll(/\d+/g, '#')}`));
    }
    return skeleton;
}

const STATES = /window\.(__[A-Z][A-Z0-9_]{2,40}__|__[a-zA-Z]{3,40}|initial[A-Z]\w{2,30})\s*=\s*(?:JSON\.parse\(|[{[])/g;

function embeddedJson($: CheerioAPI): string[] {
    const found = new Set<string>();
    for (const element of $('script').toArray()) {
        const script = $(element);
        const type = script.attr('type') ?? '';
        const id = script.attr('id') ?? '';
        if (type === 'application/ld+json') found.add('script[type="application/ld+json"]');
        else if (/json$/.test(type) && script.text().trim().length > 2)
            found.add(/^[A-Za-z_][\w-]{0,60}$/.test(id) && !/\d{3}/.test(id) ? `script#${id}` : `script[type="${type.slice(0, 60)}"]`);
        else if (type === '' || /javascript|module/.test(type)) {
            for (const match of script.text().slice(0, 400_000).matchAll(STATES)) found.add(`window.${match[1]}`);
        }
    }
    return [...found].slice(0, 10);
}
