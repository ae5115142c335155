import { stepFrom } from '../../fetch/pages.ts';
import { isObject } from '../../json/schema/structure.ts';
import type { PaginationStyle } from '../../types.ts';
import { DEFAULT_RESULTS, defaultStart, isWritingMethod } from '../endpoint.ts';
import { quoted } from './report.ts';
import type { ParamDraft } from './structure.ts';
import type { Subject } from './subject.ts';
import { PROTOTYPE_KEYS } from './tree.ts';
import { fitsSchema } from './values.ts';

/** PUT, PATCH and DELETE are always writes. Only reads may follow pages, because following pages repeats the request. */
export function checkEffect({ draft, at, report, effect }: Subject): void {
    if (draft.method !== undefined && isWritingMethod(draft.method) && draft.effect === 'read') {
        report.refuse([...at, 'effect'], `A ${draft.method} request always writes: declare write or leave effect out.`);
    }
    if (effect === undefined) return;
    if (draft.kind === 'paginate' && effect !== 'read') {
        report.refuse([...at, 'effect'], 'An endpoint of kind paginate must have effect read.');
    } else if (draft.pagination !== undefined && effect !== 'read') {
        report.refuse([...at, 'pagination'], 'Only an endpoint with effect read can be followed from page to page.');
    }
}

/** The fields that each style requires to find the next page. */
const NEEDED: Record<PaginationStyle, readonly ('param' | 'next')[]> = {
    page: ['param'],
    offset: ['param'],
    cursor: ['param', 'next'],
    link: [],
};

/** If `next` is an expression, it is checked together with `select`, which uses the same language. */
export function checkPagination(subject: Subject): void {
    const { draft, at, report, params } = subject;
    const { pagination } = draft;
    const place = [...at, 'pagination'];
    if (pagination === undefined) {
        if (draft.kind === 'paginate')
            report.add(place, 'REQUIRED', 'An endpoint of kind paginate must say in pagination how the next page is found.');
        return;
    }
    const style = pagination.style ?? 'page';
    for (const field of NEEDED[style]) {
        if (pagination[field] === undefined) report.add([...place, field], 'REQUIRED', `Pagination of style ${style} needs ${field}.`);
    }
    const carrier = params.find((param) => pagination.param !== undefined && param.draft.name === pagination.param);
    if (carrier?.draft.source === 'header') {
        report.refuse([...place, 'param'], 'The page must be a path, query or body param, but this one is a header.');
    }
    if (style === 'page' || style === 'offset') {
        checkStart(subject, carrier?.draft, pagination.start ?? defaultStart(style));
        if (carrier !== undefined) checkDefault(subject, carrier);
    }
    if (draft.method === 'HEAD') report.refuse(place, 'The answer to HEAD has no items, so it has no pages.');
}

/**
 * If the param of `pagination` does not accept its first number, a walk would silently end after the first page. A required param comes
 * from the caller, and a default takes precedence over `start`. Both have already been checked against the schema.
 */
function checkStart({ at, report, slots, budget }: Subject, carrier: ParamDraft | undefined, start: number): void {
    const slot = slots.get(carrier?.name ?? '');
    if (carrier?.name === undefined || slot === undefined || carrier.required === true || Object.hasOwn(carrier, 'default')) return;
    if (fitsSchema(start, slot, budget)) return;
    report.refuse(
        [...at, 'pagination', 'start'],
        `The pages start with ${start}, which does not fit the schema of ${quoted(carrier.name)}: give a start or a default that fits.`,
    );
}

/** A walk that cannot count on from its default would also end silently. */
function checkDefault({ report }: Subject, { draft, at }: Subject['params'][number]): void {
    if (draft.default === undefined || stepFrom(draft.default, 0) !== undefined) return;
    report.refuse([...at, 'default'], 'Pages are counted from this default, so it must be a whole number.');
}

/** Results can be counted only if the response contains an array. */
export function checkBilling({ draft, at, report }: Subject): void {
    const { billing, response } = draft;
    const path = billing?.results ?? DEFAULT_RESULTS;
    const place = [...at, 'billing', ...(billing?.results === undefined ? [] : ['results'])];
    if (path.split('.').some((step) => PROTOTYPE_KEYS.has(step)))
        report.add(place, 'FORBIDDEN_FIELD', 'A path with this name is not accepted.');
    if (billing?.unit !== 'result' && draft.pagination === undefined) return;
    if (draft.method === 'HEAD' && billing?.unit === 'result')
        report.refuse(place, 'The answer to HEAD has no results to count: use unit request.');
    if (response?.type === 'text' || response?.type === 'binary')
        report.refuse(place, `A ${response.type} answer has no results to count: use unit request, without pagination.`);
    const [first = ''] = path.split('.');
    if (response?.type === 'xml' && response.select === undefined)
        report.refuse(place, 'XML as a whole has no results to count: select a list of that name.');
    if (isObject(response?.select) && !Object.hasOwn(response.select, first)) {
        report.refuse(
            place,
            `The results are counted at ${path}, but select has no output of that name; set billing.results to the output that is the list.`,
        );
    }
}
