import type { Page } from './page.ts';
import { addText, type Texts } from './page-facts.ts';

/** Links, labels of fields and titles of all pages of a site. Their number is bounded. */
export interface SiteTexts {
    links: SiteLink[];
    /** Labels of form fields, by the names of the fields. */
    labels: Map<string, Texts>;
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
    return { links: [], labels: new Map(), titles: new Map() };
}

/** Adds the texts of one page. @param url its address */
export function addSiteTexts({ links, labels, titles }: SiteTexts, { texts }: Page, url: URL): void {
    if (titles.size < MOST_PAGES && texts.title !== '') titles.set(addressOfPage(url), texts.title);
    for (const { to, text } of texts.links) if (links.length < MOST_LINKS && to.host === url.host) links.push({ from: url, to, text });
    for (const [name, label] of texts.labels) {
        const known = labels.get(name) ?? new Map<string, number>();
        if (labels.size < MOST_NAMES) labels.set(name, known);
        addText(known, label);
    }
}

/** The address of a page as a Referer header has it. */
export function addressOfPage({ origin, pathname, search }: URL): string {
    return `${origin}${pathname}${search}`;
}
