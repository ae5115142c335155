import type { Json } from '../../../shared/domain/types.ts';
import { createDeclared, type Declared } from './declared-names.ts';
import type { Page } from './page.ts';
import { addText, type Texts } from './page-facts.ts';

/** Links, field labels and titles of all pages of a site. Its size is bounded. */
export interface SiteTexts {
    links: SiteLink[];
    /** Labels of form fields, by field name. */
    labels: Map<string, Texts>;
    /** Sentences about form fields by field name, and the site's validation messages by param. */
    hints: Map<string, Texts>;
    /** Titles of pages by address, including pages that a script fills. */
    titles: Map<string, string>;
    /** Paths of pages up to the segment that is their language: `/de` of `/de/ropes`. */
    languages: Set<string>;
    declared: Declared;
}

export interface SiteLink {
    from: URL;
    to: URL;
    text: string;
}

const MAX_LINKS = 4000;
const MAX_NAMES = 500;
const MAX_PAGES = 1000;

/** The initial value, before any page. */
export function createSiteTexts(): SiteTexts {
    return { links: [], labels: new Map(), hints: new Map(), titles: new Map(), languages: new Set(), declared: createDeclared() };
}

/** Adds the texts of one page. @param url its address */
export function addSiteTexts({ links, labels, hints, titles, languages }: SiteTexts, { texts, language }: Page, url: URL): void {
    const path = pathToLanguage(url, language);
    if (path !== undefined && languages.size < MAX_NAMES) languages.add(path);
    if (titles.size < MAX_PAGES && texts.title !== '') titles.set(addressOfPage(url), texts.title);
    for (const { to, text } of texts.links) if (links.length < MAX_LINKS && to.host === url.host) links.push({ from: url, to, text });
    for (const [name, label] of texts.labels) addNamed(labels, name, label);
    for (const [name, hint] of texts.hints) addNamed(hints, name, hint);
}

/** The path up to the segment that names the language of its page. */
function pathToLanguage({ pathname }: URL, language: string): string | undefined {
    const segments = pathname.split('/');
    const place = segments.findIndex((segment) => segment !== '' && isTag(segment, language));
    return place < 0 ? undefined : segments.slice(0, place + 1).join('/');
}

function isTag(segment: string, language: string): boolean {
    const [tag, whole] = [segment, language].map((text) => text.toLowerCase().replace('_', '-'));
    return (
        /^[a-z]{2,3}(?:-[a-z\d]{2,4})?$/.test(tag ?? '') && (tag === whole || tag?.split('-')[0] === whole || tag === whole?.split('-')[0])
    );
}

const MAX_REFUSAL_LENGTH = 120;
const MAX_MESSAGES = 10;

/**
 * Adds the validation messages of a refused request: texts in its JSON that name a param and repeat no value.
 * @param sent the params of the request
 */
export function addRefusal({ hints }: SiteTexts, json: Json, sent: readonly [name: string, value: string][]): void {
    const values = sent.map(([, value]) => value.toLowerCase()).filter((value) => value.length > 1);
    const messages = textsIn(json).filter(
        (text) => text.length <= MAX_REFUSAL_LENGTH && /\s/.test(text) && !values.some((value) => text.toLowerCase().includes(value)),
    );
    for (const [name] of sent) {
        const message = messages.find((text) => text.split(/[^\w-]+/).includes(name));
        if (message !== undefined) addNamed(hints, name, `The site says of it: “${message.replace(/[.!\s]+$/, '')}”`);
    }
}

function textsIn(json: Json, level = 0): string[] {
    if (typeof json === 'string') return [json];
    if (typeof json !== 'object' || json === null || level > 4) return [];
    return Object.values(json)
        .slice(0, MAX_MESSAGES)
        .flatMap((value) => textsIn(value, level + 1))
        .slice(0, MAX_MESSAGES);
}

function addNamed(named: Map<string, Texts>, name: string, text: string): void {
    const known = named.get(name) ?? new Map<string, number>();
    if (named.size < MAX_NAMES) named.set(name, known);
    addText(known, text);
}

/** The address of a page in the form of a Referer header. */
export function addressOfPage({ origin, pathname, search }: URL): string {
    return `${origin}${pathname}${search}`;
}
