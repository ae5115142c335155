import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Extract, JsonObject, JsonSchema, Kind, Method, PackageEndpoint } from '../../../shared/domain/types.ts';
import { headersOf } from '../exchanges/headers.ts';
import { selectOfXml } from '../exchanges/xml.ts';
import { selectsOfData } from '../pages/data-facts.ts';
import { selectOf } from '../pages/list-facts.ts';
import type { Field } from '../pages/page-forms.ts';
import type { TokenSources } from '../pages/page-tokens.ts';
import { formatOf, type Group, isIrrelevant } from '../routes/groups.ts';
import { namesChange, searches } from '../routes/searches.ts';
import { wordsOf } from '../words/harmless.ts';
import { isVarying } from '../words/segments.ts';
import { type Shape, schemaOf } from '../words/shape.ts';
import { createValues, enumOf } from '../words/values.ts';
import { nameEndpoint, otherEndpointNames, wantedEndpointName } from './naming.ts';
import { paginationOf } from './pagination.ts';
import { requestOf } from './params.ts';
import { markOf, sendWithHidden } from './prepared-form.ts';

/** An endpoint drafted from a route, or why a package cannot contain it. `notes` tell the contributor about it. */
type DraftedEndpoint = { ok: true; endpoint: PackageEndpoint; notes: string[] } | { ok: false; why: string };

/**
 * Drafts the endpoint of one route. The endpoint's name is added to the used `names`.
 * @param tokens where tokens come from
 * @param thing what pages call the subject of the route, if its path does not name it
 */
export function draftEndpoint(found: Group, names: Set<string>, tokens: TokenSources, thing?: string): DraftedEndpoint {
    const shown = withChosen(withGiven(withQueryOfForm(found)));
    const isFixed = isOnFixedPage(shown);
    const prepared = isFixed ? undefined : preparedBy(shown, tokens);
    const isKnown = isFixed || prepared !== undefined || !needsPage(shown);
    const fault = unsendable(shown, isKnown);
    if (fault !== undefined) return { ok: false, why: fault };
    const group = isKnown ? shown : withTokensAlone(shown);
    const left = isKnown ? [] : hiddenOf(group);
    const request = requestOf(withoutHidden(group, isKnown), fieldsOf(group), prepared !== undefined);
    const isForm = group.form !== undefined && group.method === 'POST';
    const isSearch = searches(group);
    const isPage = group.answers.html > 0 || (group.form !== undefined && group.answers.json + group.answers.text === 0);
    const paging = isPage || namesChange(group) ? undefined : paginationOf(group, request.params);
    const kind = kindOf(group, { isForm, isSearch, isPage, paginates: paging !== undefined });
    const givesList = group.shape.arrays > 0 || paging !== undefined;
    const wanted = wantedEndpointName(group, { isSearch, isForm, givesList }, thing);
    const pathParams = request.params.filter(({ source }) => source === 'path').map((param) => param.name);
    const name = nameEndpoint(wanted, names, otherEndpointNames(wanted, group, pathParams));
    for (const param of request.params) {
        const options = group.form?.fields.get(param.name)?.options;
        const closed = options === undefined ? {} : enumOf(param.name, options);
        if (isObject(param.schema) && param.schema['type'] === 'string') param.schema = { ...param.schema, ...closed };
    }
    const isPrepared = isForm && needsPage(group) && left.length === 0;
    const inHeader = isPrepared ? undefined : tokensOf(group);
    const once = isPrepared ? [] : [...new Set([...left, ...onceOf(group)])].filter((what) => inHeader?.covered.has(what) !== true);
    const endpoint: PackageEndpoint = {
        name,
        kind,
        description: '',
        method: group.method as Method,
        url: request.url,
        ...headersOrNone(group, inHeader?.headers),
        params: request.params,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...prepared,
        ...bodyFormat(group, kind),
        ...(once.length > 0 ? { hosted: false } : {}),
        ...(isPrepared && isFixed ? { prepare: { url: group.form?.page ?? '', form: group.form?.selector ?? 'form' } } : {}),
        ...(inHeader === undefined ? {} : { prepare: inHeader.prepare }),
        ...effectOf(group, kind, paging !== undefined),
        response: responseOf(group, isPage),
        ...(paging ?? {}),
    };
    return { ok: true, endpoint, notes: [...notesOf(group, request.left, isForm), ...onceNotes(once)] };
}

/** A form that no visit sent is sent with the query of its address. */
function withQueryOfForm(group: Group): Group {
    const { form, method, sendings, dispatch } = group;
    if (form === undefined || method !== 'POST' || sendings > 0) return group;
    const isOwn = (name: string) => name !== '' && !isIrrelevant(name) && !dispatch.some(([one]) => one === name);
    return { ...group, query: new Map([...form.query].filter(([name]) => isOwn(name))) };
}

/** A hidden input that says which thing is meant is a field: the caller knows it. */
function withGiven(group: Group): Group {
    const { form, method, query } = group;
    if (form === undefined || method !== 'POST') return group;
    const said = [...form.said].filter((name) => !form.unsaid.has(name));
    const isMark = (name: string) => !/(?:^|_)id$/i.test(name) && markOf(name, form.hidden.get(name) ?? createValues()) !== undefined;
    const given = [...form.ofItems, ...said].filter((name) => !query.has(name) && !isMark(name));
    if (given.length === 0) return group;
    const fields = new Map(given.map((name) => [name, { type: 'text', isRequired: true, options: createValues() }]));
    const hidden = new Map([...form.hidden].filter(([name]) => !fields.has(name)));
    // Its page is that of one thing, or has the form beside each.
    return { ...group, form: { ...form, fields: new Map([...fields, ...form.fields]), hidden, page: undefined } };
}

/** A hidden input that was sent with several words of the program is a choice of the caller. Each of several forms of a page hides another. */
function withChosen(group: Group): Group {
    const { form, body, query } = group;
    if (form === undefined || isOnFixedPage(group)) return group;
    const isChosen = (name: string) => {
        const values = body?.fields.get(name)?.values;
        return !query.has(name) && values !== undefined && values.words.size > 1 && values.others === 0;
    };
    return { ...group, form: { ...form, hidden: new Map([...form.hidden].filter(([name]) => !isChosen(name))) } };
}

/** The page of a form with hidden inputs whose address has params. */
function preparedBy(group: Group, tokens: TokenSources): ReturnType<typeof sendWithHidden> {
    // What a script sends and no visit sent may be for the script alone.
    const isScripts = group.sendings === 0 && group.form?.isSentByScript === true;
    if (group.method !== 'POST' || !needsPage(group) || isScripts) return undefined;
    return sendWithHidden(group, requestOf(withoutHidden(group, true), fieldsOf(group), true), tokens);
}

/** The hidden inputs of a form that no page is known for. */
function hiddenOf({ form, method }: Group): string[] {
    return method === 'POST' ? [...(form?.hidden.keys() ?? [])].map((name) => `the field ${name} of the body`) : [];
}

/** Whether a form stands on a page that all visitors see at one address, which tells it from others, and is always sent to one address. */
function isOnFixedPage({ form, segments }: Group): boolean {
    return form?.page !== undefined && form.selector !== undefined && !segments.some(isVarying);
}

function fieldsOf({ form }: Group): Field[] {
    return [...(form?.fields ?? [])].map(([name, { type, isRequired }]) => ({ name, type, isRequired, options: [] }));
}

function unsendable({ form, method, sendings }: Group, isPageKnown: boolean): string | undefined {
    if (form === undefined || method !== 'POST') return undefined;
    // A button alone may send a form, but nobody writes an encoding of several parts for it.
    if (form.isMultipart && form.fields.size + form.hidden.size === 0) return 'no input of its form has a name: a script sends it';
    return isPageKnown || sendings > 0
        ? undefined
        : 'its form has hidden inputs and stands on pages whose addresses have values that its own does not have';
}

/** What no page is known for is sent as the caller gives it, except tokens. */
function withTokensAlone(group: Group): Group {
    if (group.form === undefined) return group;
    return { ...group, form: { ...group.form, hidden: new Map([...group.form.hidden].filter(([name]) => group.form?.tokens.has(name))) } };
}

/** Hidden inputs get their values from the page, which must be fetched before each call. */
function needsPage({ form }: Group): boolean {
    return (form?.hidden.size ?? 0) > 0;
}

/** The page has the values of hidden inputs, also of those that name the action, if it is known. */
function withoutHidden(group: Group, isPageKnown: boolean): Group {
    if (group.form === undefined || group.method !== 'POST') return group;
    const { hidden } = group.form;
    const operation = isPageKnown ? undefined : group.operation;
    if (group.body === undefined) return { ...group, operation };
    return {
        ...group,
        operation,
        body: { ...group.body, fields: new Map([...group.body.fields].filter(([name]) => !hidden.has(name))) },
    };
}

function kindOf(
    group: Group,
    { isForm, isSearch, isPage, paginates }: { isForm: boolean; isSearch: boolean; isPage: boolean; paginates: boolean },
): Kind {
    if (isForm) return 'submit_form';
    if (isSearch) return 'search';
    if (paginates) return 'paginate';
    return isPage && group.method === 'GET' ? 'navigate' : 'api_call';
}

function bodyFormat(group: Group, kind: Kind): Pick<PackageEndpoint, 'body_format'> {
    const ofForm = group.form?.isMultipart === true ? 'multipart' : 'form';
    const format = group.body?.format ?? (group.form !== undefined && group.method === 'POST' ? ofForm : undefined);
    const usual = kind === 'submit_form' ? 'form' : 'json';
    return format === undefined || format === usual ? {} : { body_format: format };
}

function headersOrNone(group: Group, prepared: Record<string, string> = {}): { headers?: Record<string, string> } {
    const headers = { ...headersOf(group.headers, group.sendings, group.body?.format), ...prepared };
    return Object.keys(headers).length === 0 ? {} : { headers };
}

/** Only writes are sent as multipart. Some programs change things by GET; a page behind such a name asks first, and is read. */
function effectOf(group: Group, kind: Kind, paginates: boolean): Pick<PackageEndpoint, 'effect'> {
    const { method, operation } = group;
    if (bodyFormat(group, kind).body_format === 'multipart') return kind === 'search' ? { effect: 'write' } : {};
    if (method === 'GET') return kind === 'api_call' && namesChange(group) ? { effect: 'write' } : {};
    if (method !== 'POST' || kind === 'search') return {};
    return operation?.writes === false || paginates ? { effect: 'read' } : {};
}

function responseOf(group: Group, isPage: boolean): NonNullable<PackageEndpoint['response']> {
    if (isPage) {
        if (group.method !== 'GET') return { type: 'html' };
        const data = selectsOfData(group.pages.data);
        const select = { ...data.thing, ...(selectOf(group.pages.lists) ?? data.list) };
        return Object.keys(select).length === 0 ? { type: 'html' } : { type: 'html', select };
    }
    const format = formatOf(group);
    if (format === 'feed' || format === 'csv') return { type: format };
    if (group.answers.json > 0) {
        const type = format === 'ndjson' ? format : 'json';
        const schema = dataSchema(group.shape);
        return schema === undefined ? { type } : { type, schema };
    }
    if (group.answers.text === 0) return {};
    const select = group.shape.seen === group.answers.text ? selectOfXml(group.shape) : {};
    return Object.keys(select).length === 0 ? { type: 'text' } : { type: 'xml', select };
}

/**
 * The schema of `data` (docs/api.md, "Hosted fetch"): a list becomes `{items}`, a plain value becomes `{value}`. Mixed types get no schema.
 */
function dataSchema(shape: Shape): JsonSchema | undefined {
    const sorts = [shape.objects > 0, shape.arrays > 0, shape.scalars.size > 0].filter((is) => is).length;
    if (sorts !== 1) return undefined;
    const inside = schemaOf(shape);
    if (shape.objects > 0) return inside;
    const key = shape.arrays > 0 ? 'items' : 'value';
    return { type: 'object', required: [key], properties: { [key]: inside } } satisfies JsonObject;
}

/** Params that every request of a route had, with a new value each time. */
function onceOf({ once, sendings }: Group): string[] {
    return [...once].flatMap(([what, requests]) => (requests >= sendings ? [what] : []));
}

/** The token header that every request had, and the page or cookie that provides the token. */
function tokensOf({
    tokens,
    sendings,
}: Group):
    | { headers: Record<string, string>; prepare: { url: string; extract: Record<string, Extract> }; covered: ReadonlySet<string> }
    | undefined {
    const [found] = [...tokens].filter(([, token]) => token.sendings >= sendings);
    if (found === undefined) return undefined;
    const [name, { source }] = found;
    return {
        headers: { [name]: '{prepare.token}' },
        prepare: { url: source.page, extract: { token: source.extract } },
        covered: new Set([`the header ${name}`]),
    };
}

function onceNotes(once: readonly string[]): string[] {
    if (once.length === 0) return [];
    return [
        `it is described only (hosted: false): ${once.join(' and ')} is new for each request; take it from a page or answer with prepare, then remove hosted`,
    ];
}

function notesOf(group: Group, left: readonly { name: string; why: string }[], isForm: boolean): string[] {
    const notes = left.map(({ name, why }) => `the param ${name.length > 40 ? '…' : name} is left out: ${why}`);
    if (group.embedded.size > 0) notes.push(`the page contains data as JSON: ${[...group.embedded].join(', ')}; select can read them`);
    if (!isForm && (group.form?.tokens.size ?? 0) > 0) notes.push('its form has a token that is new for each page');
    const isPaged = [...group.query].some(([name, values]) => wordsOf(name).includes('page') && values.different.size === 1);
    if (isPaged) notes.push('only one page of a list was recorded; record a second one so that a call can follow the pages');
    return notes;
}
