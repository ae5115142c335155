import { hashOf } from '../words/values.ts';
import { addData, createData, type DataFacts, mergeData } from './data-facts.ts';
import { addLists, createLists, type ListFacts, mergeLists } from './list-facts.ts';
import type { Page } from './page.ts';

/** Texts and lists of all pages of one route, and the addresses of these pages. */
export interface PageFacts {
    addresses: Set<number>;
    titles: Texts;
    headings: Texts;
    abouts: Texts;
    /** Labels of the buttons that submit its form. */
    submits: Texts;
    /** Titles of the pages that have its form or call it. */
    callers: Texts;
    lists: ListFacts;
    data: DataFacts;
}

/** Texts, and the number of pages that have each. */
export type Texts = Map<string, number>;

const MAX_TEXTS = 40;

/** The initial facts, before any page. */
export function createPages(): PageFacts {
    return {
        addresses: new Set(),
        titles: new Map(),
        headings: new Map(),
        abouts: new Map(),
        submits: new Map(),
        callers: new Map(),
        lists: createLists(),
        data: createData(),
    };
}

/** Adds one page. @param url its address */
export function addPage(facts: PageFacts, { texts, lists, data }: Page, url: URL): void {
    if (facts.addresses.size < MAX_TEXTS) facts.addresses.add(hashOf(url.pathname + url.search));
    addText(facts.titles, texts.title);
    addText(facts.headings, texts.heading);
    addText(facts.abouts, texts.about);
    addLists(facts.lists, lists);
    addData(facts.data, data);
}

/** Counts a text, unless it is empty. */
export function addText(texts: Texts, text: string, times = 1): void {
    if (text !== '' && (texts.has(text) || texts.size < MAX_TEXTS)) texts.set(text, (texts.get(text) ?? 0) + times);
}

/** Adds `more` to `facts`. */
export function mergePages(facts: PageFacts, more: PageFacts): void {
    for (const address of more.addresses) facts.addresses.add(address);
    for (const sort of ['titles', 'headings', 'abouts', 'submits', 'callers'] as const)
        for (const [text, times] of more[sort]) addText(facts[sort], text, times);
    mergeLists(facts.lists, more.lists);
    mergeData(facts.data, more.data);
}
