import { isProgramWord } from './harmless.ts';
import type { Form } from './page-forms.ts';
import { readSegment } from './segments.ts';
import { addValues, mergeValues, openValues, type Values } from './values.ts';

/** The merged facts about one form on several pages. */
export interface FormFacts {
    fields: Map<string, { type: string; isRequired: boolean; options: Values }>;
    hidden: Set<string>;
    hasToken: boolean;
    selector: string | undefined;
    /** The page that contains it, if all visitors see it at the same address. */
    page: string | undefined;
    isMultipart: boolean;
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
    return {
        fields,
        hidden: new Set(form.hidden.map(({ name }) => name)),
        hasToken: form.hidden.some(({ isToken }) => isToken),
        selector: form.selector,
        page: page !== undefined && isFixed(page) ? `${page.origin}${page.pathname}` : undefined,
        isMultipart: form.encoding === 'multipart/form-data',
        kind: form.kind,
    };
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

/** Merges the facts about a form from another page into `one`. A field that some pages lack is not required. */
export function joinForms(one: FormFacts | undefined, other: FormFacts): FormFacts {
    if (one === undefined) return other;
    for (const [name, field] of other.fields) {
        const known = one.fields.get(name);
        if (known === undefined) one.fields.set(name, { ...field, isRequired: false });
        else mergeValues(known.options, field.options);
    }
    for (const name of other.hidden) one.hidden.add(name);
    return {
        ...one,
        hasToken: one.hasToken || other.hasToken,
        selector: one.selector ?? other.selector,
        page: one.page ?? other.page,
        isMultipart: one.isMultipart || other.isMultipart,
        kind: one.kind === other.kind ? one.kind : undefined,
    };
}
