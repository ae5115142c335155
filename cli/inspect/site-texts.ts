import type { Json } from '../../shared/domain/types.ts';
import type { Page } from './page.ts';
import { addText, type Texts } from './page-facts.ts';

/** Links, labels of fields and titles of all pages of a site. Their number is bounded. */
export interface SiteTexts {
    links: SiteLink[];
    /** Labels of form fields, by the names of the fields. */
    labels: Map<string, Texts>;
    /** Sentences on form fields, by the names of the fields, and what the site said against values of params. */
    hints: Map<string, Texts>;
    /** Titles of pages by address, including pages that a script fills. */
    titles: Map<string, string>;
}

export interface SiteLink {
    from: URL;
    to: URL;
    text: string;
}

const MOST_LINKS = 4000;
const MOST_NAMES = 500;
const MOST_PAGES = 1000;

/** The texts of a site without pages. */
export function openSiteTexts(): SiteTexts {
    return { links: [], labels: new Map(), hints: new Map(), titles: new Map() };
}

/** Adds the texts of one page. @param url its address */
export function addSiteTexts({ links, labels, hints, titles }: SiteTexts, { texts }: Page, url: URL): void {
    if (titles.size < MOST_PAGES && texts.title !== '') titles.set(addressOfPage(url), texts.title);
    for (const { to, text } of texts.links) if (links.length < MOST_LINKS && to.host === url.host) links.push({ from: url, to, text });
    for (const [name, label] of texts.labels) addNamed(labels, name, label);
    for (const [name, hint] of texts.hints) addNamed(hints, name, hint);
}

const LONGEST_REFUSAL = 120;
const MOST_MESSAGES = 10;

/**
 * Adds what an answer says against a request: the texts of its JSON that name one of the params and repeat no value.
 * @param sent what the request gave
 */
export function addRefusal({ hints }: SiteTexts, json: Json, sent: readonly [name: string, value: string][]): void {
    const values = sent.map(([, value]) => value.toLowerCase()).filter((value) => value.length > 1);
    const messages = textsIn(json).filter(
        (text) => text.length <= LONGEST_REFUSAL && /\s/.test(text) && !values.some((value) => text.toLowerCase().includes(value)),
    );
    for (const [name] of sent) {
        const said = messages.find((text) => text.split(/[^\w-]+/).includes(name));
        if (said !== undefined) addNamed(hints, name, `The site says of it: “${said.replace(/[.!\s]+$/, '')}”`);
    }
}

function textsIn(json: Json, level = 0): string[] {
    if (typeof json === 'string') return [json];
    if (typeof json !== 'object' || json === null || level > 4) return [];
    return Object.values(json)
        .slice(0, MOST_MESSAGES)
        .flatMap((value) => textsIn(value, level + 1))
        .slice(0, MOST_MESSAGES);
}

function addNamed(named: Map<string, Texts>, name: string, text: string): void {
    const known = named.get(name) ?? new Map<string, number>();
    if (named.size < MOST_NAMES) named.set(name, known);
    addText(known, text);
}

/** The address of a page as a Referer header has it. */
export function addressOfPage({ origin, pathname, search }: URL): string {
    return `${origin}${pathname}${search}`;
}
