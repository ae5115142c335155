import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { BodyFormat, Json } from '../../../shared/domain/types.ts';
import { type AuthMethod, keyOfMethod } from '../exchanges/credentials.ts';
import type { Exchange } from '../exchanges/exchange.ts';
import { addHeader, fixedHeader } from '../exchanges/headers.ts';
import type { Operation } from '../exchanges/operation.ts';
import type { AnswerFormat } from '../exchanges/recorded-answer.ts';
import type { SentBody } from '../exchanges/sent-body.ts';
import { addReporting, createReporting, mergeReporting, type Reporting } from '../exchanges/visit-reports.ts';
import { type FormFacts, joinForms } from '../pages/form-facts.ts';
import type { Page } from '../pages/page.ts';
import { addPage, createPages, mergePages, type PageFacts } from '../pages/page-facts.ts';
import type { TokenSource } from '../pages/page-tokens.ts';
import { CACHE_BREAKERS, holdsCredential } from '../words/harmless.ts';
import { dispatchesAt } from '../words/is-dispatch.ts';
import { isVarying, type Piece, readSegment } from '../words/segments.ts';
import { addShape, createShape, mergeShape, type Shape } from '../words/shape.ts';
import { addValues, createValues, isShowable, mergeValues, type Values, wasEmpty } from '../words/values.ts';
import { addEffects, type Effects, mergeEffects } from './effects.ts';

/** Exchanges that certainly belong to one route: the same method and address, except for segments that look like values. */
export interface Group {
    method: string;
    origin: string;
    segments: Piece[];
    /** The inputs of the form that sends it, or the fields that were sent as one. */
    inputs: string;
    /** Query pairs that select the action of the address, such as `action=list`. */
    dispatch: [name: string, value: string][];
    /** Names of its other query params, if one of them may select the action of the address by being there. */
    names: readonly string[];
    /** The query param that selects its action by being there, such as `table` of `?db=harbour&table=boats`. */
    selector: string | undefined;
    operation: Operation | undefined;
    sendings: number;
    query: Map<string, Values>;
    body: Body | undefined;
    /** Headers that may matter to the server, each with its value; `undefined` if it varied or no program wrote it. */
    headers: Map<string, { sendings: number; value: string | undefined }>;
    /** The places of credentials in its requests, by key. */
    authMethods: Map<string, { method: AuthMethod; sendings: number }>;
    /** Names of one-time values such as CSRF tokens, and the number of requests that had each. */
    once: Map<string, number>;
    /** Headers whose token came from a page or a cookie, and the number of requests that had each. */
    tokens: Map<string, { source: TokenSource; sendings: number }>;
    /** The form that sends it. */
    form: FormFacts | undefined;
    answers: { json: number; html: number; text: number; none: number };
    /** The formats of its answers; '' stands for those whose media type tells all. */
    formats: Set<AnswerFormat | ''>;
    /** What answers show of its params. */
    effects: Effects;
    reporting: Reporting;
    shape: Shape;
    skeleton: Set<number>;
    pages: PageFacts;
    embedded: Set<string>;
    /** Number of responses that linked to a next page with a Link header. */
    links: number;
    /** A request whose values the contributor may see; kept only if a contributor can confirm examples. */
    sample: Sample | undefined;
}

export interface Body {
    format: BodyFormat;
    sendings: number;
    fields: Map<string, { values: Values; shape: Shape }>;
    /** The shape of a body that is not an object. */
    whole: Shape | undefined;
    /** XML around the fields, with their names in braces. */
    template: string | undefined;
}

export interface Sample {
    segments: string[];
    query: [string, string][];
    /** Whether its page has a list. Examples with a list are preferred. */
    hasList: boolean;
}

const TRACKING =
    /^(?:utm_.*|gclid|fbclid|msclkid|dclid|yclid|mc_[ce]id|_ga|_gl|igshid|ref_src|[gw]braid|gad_\w+|srsltid|t[tw]clid|li_fat_id|mkt_tok|_hs(?:enc|mi))$/i;

/**
 * The key that all exchanges of a group have, and the segments it is made of.
 * @param chosen query pairs that may select a route, beside those that certainly do
 * @param names names of query params that may do so
 */
export function addressOf(
    exchange: Pick<Exchange, 'method' | 'url'>,
    chosen: readonly [string, string][] = [],
    names: readonly string[] = [],
): Pick<Group, 'method' | 'origin' | 'segments' | 'dispatch' | 'names'> & { key: string } {
    const { method, url } = exchange;
    const segments = url.pathname.slice(1).split('/').map(readSegment);
    const dispatch = [...[...url.searchParams].filter(([name, value]) => dispatchesAt(url.pathname, name, value)), ...chosen].sort(
        ([a], [b]) => (a < b ? -1 : 1),
    );
    const path = segments.map(({ form, prefix, core, suffix }) => (form === 'word' ? core : `${prefix}{}${suffix}`)).join('/');
    const key = `${method} ${url.origin}/${path} ${JSON.stringify([dispatch, names])}`;
    return { method, origin: url.origin, segments, dispatch, names, key };
}

/** Whether a query param only breaks caches or tracks visitors. */
export function isIrrelevant(name: string): boolean {
    return CACHE_BREAKERS.test(name) || TRACKING.test(name) || /^\d+$/.test(name);
}

/**
 * Removes the query params of a group that are the time of their request, in letters and digits and without a value (`?mwzka27m`). They
 * break caches. Flags may look like that, but do not differ between the requests.
 */
export function dropTimes({ query }: Group): void {
    const times = [...query].filter(([name, values]) => isTime(name) && wasEmpty(values) && values.sendings === 1);
    if (times.length > 1) for (const [name] of times) query.delete(name);
}

/** Whether a name is a time since 2020 in milliseconds, to the base of 36. */
function isTime(name: string): boolean {
    return /^[k-s](?=[a-z]*\d)[a-z\d]{7}$/.test(name);
}

/** A group without exchanges. */
export function createGroup(address: Pick<Group, 'method' | 'origin' | 'segments' | 'dispatch' | 'names'>, operation?: Operation): Group {
    return {
        ...address,
        inputs: '',
        selector: undefined,
        operation,
        sendings: 0,
        query: new Map(),
        body: undefined,
        headers: new Map(),
        authMethods: new Map(),
        once: new Map(),
        tokens: new Map(),
        form: undefined,
        answers: { json: 0, html: 0, text: 0, none: 0 },
        formats: new Set(),
        effects: new Map(),
        reporting: createReporting(),
        shape: createShape(),
        skeleton: new Set(),
        pages: createPages(),
        embedded: new Set(),
        links: 0,
        sample: undefined,
    };
}

/** Adds one exchange to its group. */
export function addExchange(
    group: Group,
    exchange: Exchange,
    {
        body,
        json,
        page,
        authMethods,
        once,
        tokens,
    }: {
        body: SentBody;
        json: Json | undefined;
        page: Page | undefined;
        authMethods: readonly AuthMethod[];
        once: readonly string[];
        tokens: readonly [name: string, source: TokenSource][];
    },
    keepsSamples: boolean,
): void {
    group.sendings++;
    noteValues(group, exchange.url.pathname.slice(1).split('/'));
    addReporting(group.reporting, exchange);
    addQuery(group, exchange.url);
    addBody(group, body);
    for (const [name, value] of exchange.requestHeaders) addHeader(group.headers, name, { sendings: 1, value: fixedHeader(name, value) });
    for (const method of authMethods) addMethod(group, method, 1);
    for (const what of once) addOnce(group, what, 1);
    for (const [name, source] of tokens) addToken(group, name, { source, sendings: 1 });
    addAnswer(group, exchange, json, page);
    addEffects(group.effects, sentIn(exchange.url, body), exchange.answer.type, json);
    if (keepsSamples) keepSample(group, sampleOf(exchange, page));
}

/** Marks the segments that are not as they were in the first request. */
function noteValues(group: Group, texts: readonly string[]): void {
    for (const [place, piece] of group.segments.entries())
        if (isVarying(piece) && texts[place] !== piece.prefix + piece.core + piece.suffix)
            group.segments[place] = { ...piece, isSeveral: true };
}

const MAX_NAMES = 20;

function addMethod({ authMethods }: Group, method: AuthMethod, sendings: number): void {
    const key = keyOfMethod(method);
    const known = authMethods.get(key);
    if (known !== undefined) known.sendings += sendings;
    else if (authMethods.size < MAX_NAMES) authMethods.set(key, { method, sendings });
}

function addOnce({ once }: Group, what: string, sendings: number): void {
    if (once.has(what) || once.size < MAX_NAMES) once.set(what, (once.get(what) ?? 0) + sendings);
}

function addToken({ tokens }: Group, name: string, { source, sendings }: { source: TokenSource; sendings: number }): void {
    tokens.set(name, { source, sendings: (tokens.get(name)?.sendings ?? 0) + sendings });
}

function addQuery(group: Group, url: URL): void {
    const chosen = new Set(group.dispatch.map(([name]) => name));
    for (const name of new Set(url.searchParams.keys())) {
        if (name === '' || isIrrelevant(name) || chosen.has(name)) continue;
        addValues(valuesIn(group.query, name), url.searchParams.getAll(name));
    }
}

function addBody(group: Group, sent: SentBody): void {
    if (sent.sort === 'none' || sent.sort === 'unfit') return;
    group.body ??= { format: sent.format, sendings: 0, fields: new Map(), whole: undefined, template: undefined };
    group.body.sendings++;
    if ('template' in sent) group.body.template ??= sent.template;
    if (sent.sort === 'operation') addOperation(group, sent.operation);
    if (sent.sort === 'whole') addShape(wholeOf(group.body), sent.value);
    else addFields(group.body, sent.sort === 'fields' ? sent.fields : argumentsOf(sent.operation));
}

/** The params of a request. */
function sentIn({ searchParams }: URL, body: SentBody): (readonly [string, Json])[] {
    const fields = body.sort === 'fields' ? body.fields : body.sort === 'operation' ? argumentsOf(body.operation) : [];
    return [...searchParams, ...[...fields].flatMap(([name, values]) => values.map((value) => [name, value] as const))];
}

/** A call writes if any of its requests does. */
function addOperation(group: Group, more: Operation | undefined): void {
    if (group.operation !== undefined && more?.writes === true) group.operation = { ...group.operation, writes: true };
}

function wholeOf(body: Body): Shape {
    body.whole ??= createShape();
    return body.whole;
}

function argumentsOf({ given, argumentsAt }: Operation): Map<string, Json[]> {
    if (isObject(given)) return new Map(Object.entries(given).map(([name, value]) => [name, [value]]));
    return new Map(given === undefined || given === null ? [] : [[argumentsAt, [given]]]);
}

function fieldOf(body: Body, name: string) {
    return getOrMake(body.fields, name, () => ({ values: createValues(), shape: createShape() }));
}

function addFields(body: Body, fields: ReadonlyMap<string, Json[]>): void {
    for (const [name, values] of fields) {
        if (holdsCredential(name, fields)) continue;
        const known = fieldOf(body, name);
        addValues(known.values, values);
        for (const value of values) addShape(known.shape, value);
    }
}

function addAnswer(group: Group, { answer, answerHeaders, status, url }: Exchange, json: Json | undefined, page: Page | undefined): void {
    if (status === 204 || status === 304 || (status >= 300 && status < 400) || answer.type === '') group.answers.none++;
    else if (/json/.test(answer.type)) group.answers.json++;
    else if (/html/.test(answer.type)) group.answers.html++;
    else group.answers.text++;
    if (answer.type !== '' && (answer.text ?? '') !== '') group.formats.add(answer.format ?? '');
    if (json !== undefined) addShape(group.shape, json);
    if (page !== undefined) addPage(group.pages, page, url);
    for (const mark of page?.skeleton ?? []) group.skeleton.add(mark);
    for (const place of page?.embedded ?? []) group.embedded.add(place);
    if (/;\s*rel="?next"?/i.test(answerHeaders.get('link') ?? '')) group.links++;
}

/** Keeps the first sample, or the first one whose page has a list. */
function keepSample(group: Group, sample: Sample | undefined): void {
    if (group.sample === undefined || (sample?.hasList === true && !group.sample.hasList)) group.sample = sample;
}

function sampleOf({ url }: Exchange, page: Page | undefined): Sample | undefined {
    const segments = url.pathname.slice(1).split('/');
    const query = [...url.searchParams];
    return [...segments.map(percentDecode), ...query.flat()].every(isShowable)
        ? { segments, query, hasList: page !== undefined && page.lists.length > 0 }
        : undefined;
}

function valuesIn(map: Map<string, Values>, name: string): Values {
    return getOrMake(map, name, createValues);
}

/** The format of all its answers; undefined if their media type tells it, or if they differ. */
export function formatOf({ formats }: Pick<Group, 'formats'>): AnswerFormat | undefined {
    const [format] = formats.size === 1 ? formats : [];
    return format === '' ? undefined : format;
}

/** Adds the data of `more` to `group`; both are the same route. */
export function mergeGroups(group: Group, more: Group): void {
    group.sendings += more.sendings;
    noteValues(
        group,
        more.segments.map(({ prefix, core, suffix, isSeveral }) => (isSeveral === true ? '' : prefix + core + suffix)),
    );
    addOperation(group, more.operation);
    for (const [name, values] of more.query) mergeValues(valuesIn(group.query, name), values);
    for (const [name, header] of more.headers) addHeader(group.headers, name, header);
    for (const { method, sendings } of more.authMethods.values()) addMethod(group, method, sendings);
    for (const [what, sendings] of more.once) addOnce(group, what, sendings);
    for (const [name, token] of more.tokens) addToken(group, name, token);
    if (more.form !== undefined) group.form = joinForms(group.form, more.form);
    if (more.body !== undefined) mergeBodies(group, more.body);
    for (const sort of ['json', 'html', 'text', 'none'] as const) group.answers[sort] += more.answers[sort];
    for (const format of more.formats) group.formats.add(format);
    mergeEffects(group.effects, more.effects);
    mergeReporting(group.reporting, more.reporting);
    mergeShape(group.shape, more.shape);
    for (const mark of more.skeleton) group.skeleton.add(mark);
    mergePages(group.pages, more.pages);
    for (const place of more.embedded) group.embedded.add(place);
    group.links += more.links;
    keepSample(group, more.sample);
}

function mergeBodies(group: Group, more: Body): void {
    group.body ??= { format: more.format, sendings: 0, fields: new Map(), whole: undefined, template: undefined };
    const { body } = group;
    body.sendings += more.sendings;
    body.template ??= more.template;
    if (more.whole !== undefined) mergeShape(wholeOf(body), more.whole);
    for (const [name, { values, shape }] of more.fields) {
        const known = fieldOf(body, name);
        mergeValues(known.values, values);
        mergeShape(known.shape, shape);
    }
}
