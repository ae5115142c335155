import type { Page } from './page.ts';
import { addText, type Texts } from './page-facts.ts';

/** What the pages of a site say beyond one route: where their links lead, what fields are called, and how pages are titled. Bounded. */
export interface SiteTexts {
    links: SiteLink[];
    /** What fields of forms are called, by their names. */
    labels: Map<string, Texts>;
    /** Titles of pages by address, of those too that a script fills. */
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

/** Of a site without pages yet. */
export function openSiteTexts(): SiteTexts {
    return { links: [], labels: new Map(), titles: new Map() };
}

/** Takes in the texts of one page that stood at `url`. */
export function addSiteTexts({ links, labels, titles }: SiteTexts, { texts }: Page, url: URL): void {
    if (titles.size < MOST_PAGES && texts.title !== '') titles.set(addressOfPage(url), texts.title);
    for (const { to, text } of texts.links) if (links.length < MOST_LINKS && to.host === url.host) links.push({ from: url, to, text });
    for (const [name, label] of texts.labels) {
        const known = labels.get(name) ?? new Map<string, number>();
        if (labels.size < MOST_NAMES) labels.set(name, known);
        addText(known, label);
    }
}

/** A page by its address, as a Referer header names it. */
export function addressOfPage({ origin, pathname, search }: URL): string {
    return `${origin}${pathname}${search}`;
}
