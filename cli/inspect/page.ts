import { type CheerioAPI, load } from 'cheerio';
import { type Form, readForms } from './page-forms.ts';
import { hashOf } from './values.ts';

/** What a page shows about the routes of its site; no text of it. */
export interface Page {
    /** A page without content, which a script fills with what it fetches. */
    isShell: boolean;
    forms: Form[];
    /** Names of places where data stand in the page as JSON. */
    embedded: string[];
    /** Hashes of the elements with their classes: pages of one route have much in common. */
    skeleton: Set<number>;
}

const MAX_PAGE = 2_000_000;
const MAX_SKELETON = 400;
/** Less visible text than this is no content. */
const LITTLE_TEXT = 40;

/** Reads a page that stood at `url`. */
export function readPage(html: string, url: URL): Page {
    const $ = load(html.slice(0, MAX_PAGE));
    const forms = readForms($, url);
    const embedded = embeddedJson($);
    const hasScripts = $('script').length > 0;
    const skeleton = skeletonOf($);
    $('script, style, noscript, template, svg, head').remove();
    const text = $('body').text().replaceAll(/\s+/g, ' ').trim();
    return { isShell: hasScripts && forms.length === 0 && text.length < LITTLE_TEXT && embedded.length === 0, forms, embedded, skeleton };
}

function skeletonOf($: CheerioAPI): Set<number> {
    const skeleton = new Set<number>();
    for (const element of $('body *').toArray()) {
        if (skeleton.size >= MAX_SKELETON) break;
        const classes = ($(element).attr('class') ?? '').split(/\s+/).filter((name) => !/\d{3}/.test(name));
        skeleton.add(hashOf(`${element.tagName}.${classes.sort().join('.')}`));
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
