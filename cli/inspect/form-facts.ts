import { isPlaceInList } from './describe.ts';
import { isProgramWord } from './harmless.ts';
import { DISPATCHERS } from './is-dispatch.ts';
import type { Form } from './page-forms.ts';
import { readSegment } from './segments.ts';
import { shared } from './shared.ts';
import { addValues, mergeValues, openValues, type Values } from './values.ts';

/** The merged facts about one form on several pages. */
export interface FormFacts {
    fields: Map<string, { type: string; isRequired: boolean; options: Values }>;
    hidden: Set<string>;
    /** The query params that its address has on each page. */
    query: Map<string, Values>;
    hasToken: boolean;
    selector: string | undefined;
    /** Those of the hidden inputs that had a value on each page. */
    filled: Set<string>;
    /** The page that contains it, if all visitors see it at the same address. */
    page: string | undefined;
    /** The address of a page that contains it, as far as the form's own address says it. */
    standing: PageAddress | undefined;
    /** How many segments the addresses of other pages have that its own address does not say. */
    strange: Set<number>;
    isMultipart: boolean;
    isSentByScript: boolean;
    /** Whether a visitor can neither fill nor send it. */
    isIdle: boolean;
    /** Whether forms with other inputs were merged: they share their address alone. */
    isMixed: boolean;
    /** The form's kind, if all merged forms are of one. */
    kind: string | undefined;
}

/** The facts about one form. @param page the page that contains it, if a GET answers with it */
export function factsOf(form: Form, page: URL | undefined): FormFacts {
    const fields: FormFacts['fields'] = new Map();
    for (const { name, type, isRequired, options } of form.fields) {
        const values = openValues();
        for (const option of options) addValues(values, [option]);
        fields.set(name, { type, isRequired, options: values });
    }
    const standing = page === undefined || form.hidden.some(({ isLong }) => isLong) ? undefined : seenFrom(form.action, page);
    return {
        fields,
        hidden: new Set(form.hidden.map(({ name }) => name)),
        query: queryOf(form.action),
        filled: new Set(form.hidden.filter(({ isFilled }) => isFilled).map(({ name }) => name)),
        hasToken: form.hidden.some(({ isToken }) => isToken),
        selector: form.selector,
        page: page !== undefined && isFixed(page) ? `${page.origin}${page.pathname}` : undefined,
        standing,
        strange: new Set(page === undefined || standing !== undefined ? [] : [page.pathname.split('/').length - 1]),
        isMultipart: form.encoding === 'multipart/form-data',
        isSentByScript: form.isSentByScript,
        isIdle: form.isIdle,
        isMixed: false,
        kind: form.kind,
    };
}

/** Whether a param says which of its pages a program shows. Words of others may be a visitor's (`id=Home`). */
function isMode(name: string): boolean {
    return DISPATCHERS.test(name) || /^(?:view|mode|section|screen|tab|type)$/i.test(name);
}

function queryOf({ searchParams }: URL): FormFacts['query'] {
    const query: FormFacts['query'] = new Map();
    for (const name of new Set(searchParams.keys())) {
        const values = openValues();
        addValues(values, searchParams.getAll(name));
        query.set(name, values);
    }
    return query;
}

/** The address of a page: each part as it was recorded, with the place in the form's address that has the same. */
export interface PageAddress {
    path: PagePart[];
    query: (PagePart & { name: string })[];
}

export interface PagePart {
    text: string;
    /** The index of a segment of the form's address. */
    segment?: number;
    /** A query param of the form's address. */
    param?: string;
}

const MAX_PAIRS = 10;

/** Reads the address of a page from that of its form; `undefined` if the page's has more values than the form's. */
function seenFrom(action: URL, page: URL): PageAddress | undefined {
    const own = action.pathname.slice(1).split('/');
    const segments = page.pathname.slice(1).split('/');
    const inPath = (text: string, place: number): PagePart | undefined => {
        // The same value behind another word is one of something else (`/thread/7`, `/message/7`).
        const segment = text === '' ? -1 : own.findIndex((one, at) => one === text && own[at - 1] === segments[place - 1]);
        if (segment >= 0) return { text, segment };
        return text === '' || (readSegment(text, place).form === 'word' && isPlainWord(text)) ? { text } : undefined;
    };
    const inQuery = (name: string, text: string): PagePart | undefined => {
        if (action.searchParams.get(name) === text) return { text, param: name };
        const segment = own.indexOf(encodeURIComponent(text));
        if (segment >= 0) return { text, segment };
        return isMode(name) && isProgramWord(text) ? { text } : undefined;
    };
    const path = segments.map(inPath);
    const pairs = [...page.searchParams].filter(([name]) => !isPlaceInList(name));
    const query = pairs.map(([name, text]) => {
        const part = inQuery(name, text);
        return part === undefined ? undefined : { ...part, name };
    });
    const isKnown = page.origin === action.origin && pairs.length <= MAX_PAIRS;
    if (!isKnown || path.includes(undefined) || query.includes(undefined)) return undefined;
    return { path: path.filter((part) => part !== undefined), query: query.filter((part) => part !== undefined) };
}

/** Whether an address contains nothing that a visitor typed or chose. */
export function isFixed(page: URL): boolean {
    const segments = page.pathname.slice(1).split('/');
    return (
        page.search === '' &&
        segments.every((segment, place) => segment === '' || (readSegment(segment, place).form === 'word' && isPlainWord(segment)))
    );
}

function isPlainWord(segment: string): boolean {
    return isProgramWord(segment.replace(/\.[a-z]{2,5}$/, '')) || /^(?:v\d+|-)$/.test(segment);
}

/** The least share of inputs that the same form has on different pages. */
const MIN_SHARED = 0.5;

/** Merges the facts about a form from another page into `one`. A field that some pages lack is not required. */
export function joinForms(one: FormFacts | undefined, other: FormFacts): FormFacts {
    if (one === undefined) return other;
    const isMixed = one.isMixed || other.isMixed || shared(new Set(one.fields.keys()), new Set(other.fields.keys())) < MIN_SHARED;
    for (const [name, field] of other.fields) {
        const known = one.fields.get(name);
        if (known === undefined) one.fields.set(name, { ...field, isRequired: false });
        else mergeValues(known.options, field.options);
    }
    for (const name of other.hidden) {
        if (!one.hidden.has(name) || !other.filled.has(name)) one.filled.delete(name);
        one.hidden.add(name);
    }
    for (const name of one.hidden) if (!other.hidden.has(name)) one.filled.delete(name);
    for (const [name, values] of one.query) {
        const more = other.query.get(name);
        if (more === undefined) one.query.delete(name);
        else mergeValues(values, more);
    }
    return {
        ...one,
        hasToken: one.hasToken || other.hasToken,
        selector: one.selector ?? other.selector,
        page: one.page ?? other.page,
        standing: one.standing ?? other.standing,
        strange: new Set([...one.strange, ...other.strange]),
        isMultipart: one.isMultipart || other.isMultipart,
        isSentByScript: one.isSentByScript && other.isSentByScript,
        isIdle: one.isIdle && other.isIdle,
        isMixed,
        kind: one.kind === other.kind ? one.kind : undefined,
    };
}
