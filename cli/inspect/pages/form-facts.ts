import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import { isPlaceInList } from '../words/describe.ts';
import { isProgramWord } from '../words/harmless.ts';
import { DISPATCHERS } from '../words/is-dispatch.ts';
import { readSegment } from '../words/segments.ts';
import { addValues, createValues, hashOf, mergeValues, type Values } from '../words/values.ts';
import type { Form, HiddenInput } from './page-forms.ts';

/** The merged facts about one form on several pages. */
export interface FormFacts {
    fields: Map<string, { type: string; isRequired: boolean; options: Values }>;
    /** Hidden inputs, with what their pages gave them. */
    hidden: Map<string, Values>;
    /** Those that say which thing is meant: pages have the form beside each thing, or their addresses say it, or did not. */
    ofItems: Set<string>;
    said: Set<string>;
    unsaid: Set<string>;
    /** Hashes of its tokens. */
    tokens: Map<string, number>;
    /** The query params that its address has on each page. */
    query: Map<string, Values>;
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
    /** Whether each of its pages sends it to itself. */
    isSentToItself: boolean;
    /** Whether a visitor can neither fill nor send it. */
    isIdle: boolean;
}

/** The facts about one form. @param page the page that contains it, if a GET answers with it */
export function factsOf(form: Form, page: URL | undefined): FormFacts {
    const fields: FormFacts['fields'] = new Map();
    for (const { name, type, isRequired, options } of form.fields) {
        const values = createValues();
        for (const option of options) addValues(values, [option]);
        fields.set(name, { type, isRequired, options: values });
    }
    const hidden: FormFacts['hidden'] = new Map();
    for (const { name, value } of form.hidden) {
        const values = hidden.get(name) ?? createValues();
        addValues(values, [value]);
        hidden.set(name, values);
    }
    const free = form.hidden.filter(({ isToken, value }) => !isToken && value.trim() !== '');
    const said = free.filter((input) => page !== undefined && saysThing(input, form.action, page));
    const isLong = form.hidden.some(({ value }) => value.length > MAX_HIDDEN);
    const standing = page === undefined || isLong ? undefined : seenFrom(form.action, page);
    return {
        fields,
        hidden,
        ofItems: new Set(free.filter(({ isOfItem }) => isOfItem).map(({ name }) => name)),
        said: new Set(said.map(({ name }) => name)),
        unsaid: new Set(page === undefined ? [] : free.filter((one) => !said.includes(one)).map(({ name }) => name)),
        tokens: new Map(form.hidden.filter(({ isToken }) => isToken).map(({ name, value }) => [name, hashOf(value.trim())])),
        query: queryOf(form.action),
        filled: new Set(form.hidden.filter(({ value }) => value.trim() !== '').map(({ name }) => name)),
        selector: form.selector,
        page: page !== undefined && isFixed(page) ? `${page.origin}${page.pathname}` : undefined,
        standing,
        strange: new Set(page === undefined || standing !== undefined ? [] : [page.pathname.split('/').length - 1]),
        isMultipart: form.encoding === 'multipart/form-data',
        isSentByScript: form.isSentByScript,
        isSentToItself: page?.href.split('#', 1)[0] === form.action.href,
        isIdle: form.isIdle,
    };
}

/** Longer values are not taken from a page one by one (docs/api.md, "Schema packages"). */
const MAX_HIDDEN = 1024;
/** A shorter value may be that of another name by chance. */
const MIN_SAME = 3;

/** Whether the address of a page has the value of a hidden input, and that of its form has not: it says which thing the page shows. */
function saysThing({ name, value }: HiddenInput, action: URL, page: URL): boolean {
    const isSaid = (one: string, text: string) => text === value && (one === name || value.length >= MIN_SAME || /(?:^|_)id$/i.test(name));
    const segments = ({ pathname }: URL) => pathname.split('/').map((segment) => percentDecode(segment));
    if (isMode(name) || segments(action).includes(value) || action.searchParams.getAll(name).includes(value)) return false;
    const isInPath = segments(page).some((segment, place) => isSaid('', segment) && !isPlainSegment(segment, place - 1));
    return isInPath || [...page.searchParams].some(([one, text]) => isSaid(one, text) && !isMode(one));
}

/** Whether a param says which of its pages a program shows. Words of others may be a visitor's (`id=Home`). */
function isMode(name: string): boolean {
    return DISPATCHERS.test(name) || /^(?:view|mode|section|screen|tab|type)$/i.test(name);
}

function queryOf({ searchParams }: URL): FormFacts['query'] {
    const query: FormFacts['query'] = new Map();
    for (const name of new Set(searchParams.keys())) {
        const values = createValues();
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
        return isPlainSegment(text, place) ? { text } : undefined;
    };
    const inQuery = (name: string, text: string): PagePart | undefined => {
        if (action.searchParams.get(name) === text) return { text, param: name };
        const segment = own.indexOf(encodeURIComponent(text));
        if (segment >= 0) return { text, segment };
        return isMode(name) && isProgramWord(text) ? { text } : undefined;
    };
    const path = segments.map(inPath);
    const pairs = [...page.searchParams].filter(([name, text]) => !isPlaceInList(name) || namesPage(name, text));
    const query = pairs.map(([name, text]) => {
        const part = inQuery(name, text);
        return part === undefined ? undefined : { ...part, name };
    });
    const isKnown = page.origin === action.origin && pairs.length <= MAX_PAIRS;
    if (!isKnown || path.includes(undefined) || query.includes(undefined)) return undefined;
    return { path: path.filter((part) => part !== undefined), query: query.filter((part) => part !== undefined) };
}

/** Whether a param names a page instead of its place in a list (`page=ropes/hemp`). */
function namesPage(name: string, text: string): boolean {
    return /^page$/i.test(name) && /\D/.test(text);
}

/** Whether an address contains nothing that a visitor typed or chose. */
export function isFixed(page: URL): boolean {
    const segments = page.pathname.slice(1).split('/');
    return page.search === '' && segments.every((segment, place) => isPlainSegment(segment, place));
}

function isPlainSegment(segment: string, place: number): boolean {
    return segment === '' || (readSegment(segment, place).form === 'word' && isPlainWord(segment));
}

function isPlainWord(segment: string): boolean {
    return isProgramWord(segment.replace(/\.[a-z]{2,5}$/, '')) || /^(?:v\d+|-)$/.test(segment);
}

/** Merges the facts about a form from another page into `one`. A field that some pages lack is not required. */
export function joinForms(one: FormFacts | undefined, other: FormFacts): FormFacts {
    if (one === undefined) return other;
    for (const [name, field] of other.fields) {
        const known = one.fields.get(name);
        if (known === undefined) one.fields.set(name, { ...field, isRequired: false });
        else mergeValues(known.options, field.options);
    }
    for (const [name, values] of other.hidden) {
        const known = one.hidden.get(name);
        if (known === undefined || !other.filled.has(name)) one.filled.delete(name);
        if (known === undefined) one.hidden.set(name, values);
        else mergeValues(known, values);
    }
    for (const name of one.hidden.keys()) if (!other.hidden.has(name)) one.filled.delete(name);
    for (const [name, values] of one.query) {
        const more = other.query.get(name);
        if (more === undefined) one.query.delete(name);
        else mergeValues(values, more);
    }
    return {
        ...one,
        ofItems: new Set([...one.ofItems, ...other.ofItems]),
        said: new Set([...one.said, ...other.said]),
        unsaid: new Set([...one.unsaid, ...other.unsaid]),
        tokens: new Map([...one.tokens, ...other.tokens]),
        selector: one.selector ?? other.selector,
        page: one.page ?? other.page,
        standing: one.standing ?? other.standing,
        strange: new Set([...one.strange, ...other.strange]),
        isMultipart: one.isMultipart || other.isMultipart,
        isSentByScript: one.isSentByScript && other.isSentByScript,
        isSentToItself: one.isSentToItself && other.isSentToItself,
        isIdle: one.isIdle && other.isIdle,
    };
}
