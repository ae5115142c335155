import type { CheerioAPI } from 'cheerio';
import { isAuthorsName } from '../words/author-names.ts';

export type Elements = ReturnType<CheerioAPI>;
export type Node = ReturnType<typeof elementsOf>[number];

function elementsOf($: CheerioAPI) {
    return $('*').toArray();
}

/** What `element.find(selector)` finds, in linear time. cheerio compares the children of the element with each other otherwise. */
export function findIn(element: Elements, selector: string) {
    // `:scope *` matches the element, too.
    return element.find(`:scope :is(${selector})`).filter((_, one) => one !== element[0]);
}

/** Classes that an author chose and that do not describe the state of an element. */
export function classesOf(element: Elements): string[] {
    return (element.attr('class') ?? '').split(/\s+/).filter((name) => isAuthorsName(name) && !STATES.test(name));
}

const STATES =
    /(?:^|[-_])(?:active|selected|current|first|last|odd|even|open|closed|new|visited|hover|hidden|visible|disabled|row\d*|col\d*|col-.*|clearfix|left|right|dark|light|alt)$/i;

export function lineOf(text: string): string {
    return text.slice(0, 2000).replaceAll(/\s+/g, ' ').trim();
}

export function tagOf(element: Elements): string {
    return String(element.prop('tagName') ?? '').toLowerCase();
}
