import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { isOnDomain, registrableDomain } from '../../../shared/domain/site/site-name.ts';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { addGranting, authMethodsOf, createGranting, type Granting, oneTimeNames, signsIn } from '../exchanges/credentials.ts';
import { type Exchange, readEntry } from '../exchanges/exchange.ts';
import type { Element } from '../exchanges/json-elements.ts';
import { noiseOf } from '../exchanges/noise.ts';
import { isOpenSearch, type OpenSearch, readOpenSearch } from '../exchanges/open-search.ts';
import { namedOf, type Operation, withoutAction } from '../exchanges/operation.ts';
import { parseJson, redact } from '../exchanges/redact.ts';
import type { Ledger } from '../exchanges/report.ts';
import { readBody, type SentBody } from '../exchanges/sent-body.ts';
import { dataOfXml, isXml } from '../exchanges/xml.ts';
import { addDeclared, isDescription } from '../pages/declared-names.ts';
import { factsOf, joinForms } from '../pages/form-facts.ts';
import { readPage } from '../pages/page.ts';
import { addText } from '../pages/page-facts.ts';
import type { Form } from '../pages/page-forms.ts';
import { addTokenSources, preparedHeaders, type TokenSources } from '../pages/page-tokens.ts';
import { addRefusal, addressOfPage, addSiteTexts, createSiteTexts, type SiteTexts } from '../pages/site-texts.ts';
import { isProgramWord } from '../words/harmless.ts';
import { DISPATCHERS, isDispatch, mayDispatch, ONE_ADDRESS } from '../words/is-dispatch.ts';
import { type AnswerFields, addAnswerFields } from './answer-fields.ts';
import { DispatchWords } from './dispatch.ts';
import { inputsOf } from './form-inputs.ts';
import { addExchange, addressOf, createGroup, type Group, isIrrelevant } from './groups.ts';
import { createSeenTexts, type SeenTexts } from './seen-texts.ts';

/** The collected data of a recording: groups of similar exchanges, and texts that occurred as values. Its size is bounded. */
export interface Collection {
    read: number;
    groups: Map<string, Group>;
    /** Words of query params that may select a route. */
    choices: DispatchWords;
    seen: SeenTexts;
    /** How the site grants tokens. */
    granting: Granting;
    /** Origins that refused a request without a credential. */
    refusing: Set<string>;
    /** Origins where the user signed in. */
    signedIn: Set<string>;
    texts: SiteTexts;
    /** The searches that the site's OpenSearch documents describe. */
    searches: OpenSearch[];
    /** Tokens found in pages. */
    tokens: TokenSources;
    answerFields: AnswerFields;
    /** For each registrable domain: its share of the recording, and the first host that served a page. */
    domains: Map<string, { weight: number; pageHost: string | undefined }>;
}

interface CollectOptions {
    /** Registrable domain of the site, if the caller knows it. */
    domain: string | undefined;
    keepsSamples: boolean;
    onProgress: ((read: number) => void) | undefined;
}

const MAX_GROUPS = 5000;
const MAX_SEARCHES = 20;
/** Larger bodies are not searched for the name that a user signs in with. */
const MAX_NAMED = 20_000;
/** Pages of one route that are parsed completely. Further pages have the same forms. */
const MAX_PAGES = 12;

/** Reads entries one after the other and keeps from each what its group does not contain yet. */
export async function collect(entries: AsyncIterable<Element>, ledger: Ledger, options: CollectOptions): Promise<Collection> {
    const collection: Collection = {
        read: 0,
        groups: new Map(),
        choices: new DispatchWords(),
        seen: createSeenTexts(),
        texts: createSiteTexts(),
        searches: [],
        tokens: new Map(),
        answerFields: new Map(),
        granting: createGranting(),
        refusing: new Set(),
        signedIn: new Set(),
        domains: new Map(),
    };
    for await (const entry of entries) {
        collection.read++;
        if (collection.read % 100 === 0) options.onProgress?.(collection.read);
        if (!entry.ok) {
            ledger.drop('Exchanges that could not be read', `an entry of the recording is ${entry.fault}`);
            continue;
        }
        const found = readEntry(entry.value, collection.read);
        if (found.ok) take(collection, found.exchange, ledger, options);
        else ledger.drop('Entries that are not requests', found.why);
    }
    return collection;
}

/** The registrable domain of a host. IP addresses and local host names are returned unchanged. */
export function domainOf(host: string): string {
    return registrableDomain(host) ?? host;
}

function take(collection: Collection, raw: Exchange, ledger: Ledger, options: CollectOptions): void {
    const domain = domainOf(raw.url.hostname);
    addGranting(collection.granting, raw);
    if (options.domain !== undefined && domain !== options.domain) {
        ledger.drop(`Requests to ${domain}`, 'that is another site');
        return;
    }
    const authMethods = authMethodsOf(raw);
    noteCaller(collection, raw, authMethods);
    if (isOpenSearch(raw)) {
        if (collection.searches.length < MAX_SEARCHES) collection.searches.push(...readOpenSearch(raw));
        ledger.drop('Descriptions of searches', 'they are not a route; the description of the search uses them');
        return;
    }
    const noise = noiseOf(raw);
    if (noise !== undefined) {
        ledger.drop(noise.what, noise.why);
        // Filtered requests had credentials too; the report lists them.
        const sent = redact({ ...raw, answer: { ...raw.answer, text: undefined } }, ledger);
        if (raw.status === 400 || raw.status === 422) addRefusal(collection.texts, jsonIn(raw) ?? null, givenIn(sent));
        return;
    }
    const exchange = redact(raw, ledger);
    const body = withFewWords(readBody(exchange), collection.choices, exchange.url);
    const label = `${exchange.method} requests`;
    if (body.sort === 'unfit') {
        ledger.drop(label, body.why);
        return;
    }
    const json = dataIn(exchange);
    const group = groupFor(collection, exchange, body);
    if (group === undefined) {
        ledger.drop(label, `the recording has more than ${MAX_GROUPS} different addresses`);
        return;
    }
    const page =
        /html/.test(exchange.answer.type) && exchange.answer.text !== undefined && group.answers.html < MAX_PAGES
            ? readPage(exchange.answer.text, exchange.url)
            : undefined;
    if (page?.isLogin === true && exchange.method === 'GET') {
        ledger.drop('Pages that ask to sign in', 'the site answered with them instead of the requested pages');
        if (group.sendings === 0 && group.form === undefined) collection.groups.delete(keyOf(collection, exchange, body));
        return;
    }
    if (page !== undefined) addSiteTexts(collection.texts, page, exchange.url);
    if (page !== undefined && exchange.method === 'GET') addTokenSources(collection.tokens, page.tokens, exchange.url);
    if (page?.isShell === true && exchange.method === 'GET') {
        ledger.drop('Pages without content', 'a script fills them, and what it fetches is described instead');
        if (group.sendings === 0 && group.form === undefined) collection.groups.delete(keyOf(collection, exchange, body));
        weigh(collection, domain, exchange, 1);
        return;
    }
    weigh(collection, domain, exchange, page === undefined ? 1 : 5);
    addExchange(
        group,
        exchange,
        { body, json, page, authMethods, once: oneTimeNames(raw), tokens: preparedHeaders(raw, collection.tokens) },
        options.keepsSamples,
    );
    if (json !== undefined) {
        addDeclared(collection.texts.declared, json);
        if (!isDescription(json)) {
            collection.seen.remember(json);
            addAnswerFields(collection.answerFields, json, { from: exchange.url, operation: group.operation?.key });
        }
    }
    if (page === undefined) noteCallingPage(collection, group, exchange);
    else for (const form of page.forms) takeForm(collection, form, exchange, page.texts.title, ledger);
}

/** Keeps what a request sent, and whether its site knows who sent it. */
function noteCaller(collection: Collection, raw: Exchange, authMethods: ReturnType<typeof authMethodsOf>): void {
    // The account names that users sign in with may also occur in paths.
    collection.seen.remember(namedValues(raw));
    collection.seen.rememberSent(raw.url.searchParams);
    if (raw.status === 401 && authMethods.length === 0 && collection.refusing.size < MAX_GROUPS) collection.refusing.add(raw.url.origin);
    if (signsIn(raw) && collection.signedIn.size < MAX_GROUPS) collection.signedIn.add(raw.url.origin);
}

/** Keeps the title of the page that sent the request. */
function noteCallingPage({ texts }: Collection, group: Group, { requestHeaders }: Exchange): void {
    const caller = URL.parse(requestHeaders.get('referer') ?? '');
    if (caller !== null) addText(group.pages.callers, texts.titles.get(addressOfPage(caller)) ?? '');
}

/** A field that keeps changing does not name an action. */
function withFewWords(body: SentBody, choices: DispatchWords, url: URL): SentBody {
    if (body.sort !== 'operation') return body;
    const { doubtful, fixed } = body.operation;
    const changing = doubtful.filter((name) => !choices.tryAdd(url, [[name, String(fixed[name])]]));
    if (changing.length === 0) return body;
    const operation = changing.reduce<Operation | undefined>((one, name) => one && withoutAction(one, name), body.operation);
    if (operation !== undefined) return { ...body, operation };
    const fields = Object.entries({ ...fixed, ...objectOf(body.operation.given) });
    return { sort: 'fields', format: body.format, fields: new Map(fields.map(([name, value]) => [name, [value]])) };
}

function jsonIn(exchange: Exchange): Json | undefined {
    const text = jsonTextIn(exchange);
    return text === undefined ? undefined : parseJson(text);
}

/** The data of an answer, be it JSON or XML. */
function dataIn(exchange: Exchange): Json | undefined {
    const { type, text = '' } = exchange.answer;
    return isXml(type) ? dataOfXml(text) : jsonIn(exchange);
}

function jsonTextIn({ answer: { type, text } }: Exchange): string | undefined {
    return /json/.test(type) ? text : undefined;
}

/** The params of a request, and the unnamed segments of its path. */
function givenIn(exchange: Exchange): [name: string, value: string][] {
    const { pathname, searchParams } = exchange.url;
    const values = namedValues(exchange);
    const segments = pathname.split('/').map((segment): [string, string] => ['', percentDecode(segment)]);
    const fields = isObject(values) ? Object.entries(values) : [];
    const texts = fields.map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
    return [...segments.filter(([, value]) => !isProgramWord(value)), ...searchParams, ...texts];
}

function namedValues({ body }: Exchange): Json {
    if (body === undefined || body.text.length > MAX_NAMED) return null;
    return body.type === 'application/x-www-form-urlencoded'
        ? Object.fromEntries(new URLSearchParams(body.text))
        : (parseJson(body.text) ?? null);
}

function weigh({ domains }: Collection, domain: string, { url }: Exchange, weight: number): void {
    const known = getOrMake(domains, domain, () => ({ weight: 0, pageHost: undefined }));
    known.weight += weight;
    if (weight > 1) known.pageHost ??= url.hostname;
}

function keyOf({ choices }: Pick<Collection, 'choices'>, exchange: Exchange, body: SentBody): string {
    const sort = /json/.test(exchange.answer.type)
        ? 'json'
        : /html/.test(exchange.answer.type)
          ? 'html'
          : exchange.answer.type === ''
            ? 'none'
            : 'text';
    const operation = body.sort === 'operation' ? body.operation.key : '';
    return `${addressIn(choices, exchange, jsonTextIn(exchange)).key} ${operation} ${sort} ${inputsIn(choices, exchange.url, sentNames(body))}`;
}

/** The inputs of a form, or the fields that were sent as one; none if they keep changing. */
function inputsIn(choices: DispatchWords, url: URL, names: readonly string[]): string {
    const inputs = inputsOf(names);
    return choices.tryAdd(url, [['=', inputs]]) ? inputs : '';
}

function sentNames(body: SentBody): readonly string[] {
    if (!('format' in body) || !/^(?:form|multipart)$/.test(body.format)) return [];
    if (body.sort === 'operation') return isObject(body.operation.given) ? Object.keys(body.operation.given) : [];
    return body.sort === 'fields' ? [...body.fields.keys()] : [];
}

/**
 * The address of an exchange or form.
 * @param answer the JSON that answered, if it did
 * @param names of the params in its query, unless its URL has them
 */
function addressIn(
    choices: DispatchWords,
    to: Pick<Exchange, 'method' | 'url'>,
    answer?: string,
    names: Iterable<string> = to.url.searchParams.keys(),
) {
    const chosen = choicesOf(choices, to.url, answer);
    const selecting = ONE_ADDRESS.test(to.url.pathname)
        ? [...new Set(names)].filter((name) => name !== '' && !isIrrelevant(name) && !DISPATCHERS.test(name)).sort()
        : [];
    const isKnown = choices.tryAdd(to.url, [['', selecting.join(' ')]]);
    return addressOf(to, chosen, isKnown ? selecting.filter((name) => !chosen.some(([one, value]) => one === name && value !== '')) : []);
}

/** The query pairs that may select a route of the program at this address. */
function choicesOf(choices: DispatchWords, url: URL, answer: string | undefined): [string, string][] {
    const counts = Map.groupBy(url.searchParams, ([name]) => name);
    const pairs = [...url.searchParams].filter(([name, value]) => counts.get(name)?.length === 1 && mayDispatch(url, name, value, answer));
    const [, flag = ''] = /^\?([\w-]+)$/.exec(url.search) ?? [];
    if (isProgramWord(flag) && !isIrrelevant(flag) && choices.tryAdd(url, [['?', flag]])) return [[flag, '']];
    return choices.tryAdd(url, pairs) ? pairs : [];
}

function groupFor(collection: Collection, exchange: Exchange, body: SentBody): Group | undefined {
    const { groups, choices } = collection;
    const key = keyOf(collection, exchange, body);
    const known = groups.get(key);
    if (known !== undefined || groups.size >= MAX_GROUPS) return known;
    const made = createGroup(addressIn(choices, exchange, jsonTextIn(exchange)), body.sort === 'operation' ? body.operation : undefined);
    made.inputs = inputsIn(choices, exchange.url, sentNames(body));
    groups.set(key, made);
    return made;
}

/** What is known of the body before anyone sends the form: a hidden input may name the action. */
function bodyOfForm({ hidden, action }: Form): SentBody {
    const words = hidden.flatMap(({ name, word }) => (word === undefined ? [] : [[name, word] as const]));
    const operation = namedOf(Object.fromEntries(words), action.pathname);
    return operation === undefined ? { sort: 'none' } : { sort: 'operation', format: 'form', operation };
}

function namesOfInputs({ fields, hidden }: Form): string[] {
    return [...fields, ...hidden].map(({ name }) => name);
}

function takeForm(collection: Collection, form: Form, { url: page, method }: Exchange, title: string, ledger: Ledger): void {
    if (!isOnDomain(form.action.hostname, domainOf(page.hostname)) && form.action.hostname !== page.hostname) {
        ledger.drop('Forms', 'they are sent to another site');
    } else if (form.asksForPassword) ledger.drop('Forms', 'they ask for a password, and a package contains no credentials');
    else if (form.isScripted) ledger.drop('Forms', 'they have neither an action nor a method: a script sends them');
    else if (form.takesFiles) ledger.drop('Forms', 'they send files, which are not drafted');
    else if (form.method === 'GET' && form.fields.some(({ name, type }) => type === 'select' && DISPATCHERS.test(name)))
        ledger.drop('Forms', 'they choose among other routes');
    else {
        const action = new URL(form.action);
        if (form.method === 'GET') {
            action.search = '';
            // If one program serves all routes at one address, a hidden input selects the route.
            const chosen = ONE_ADDRESS.test(action.pathname) ? form.hidden : [];
            for (const { name, word } of chosen)
                if (word !== undefined && (isDispatch(name, word) || mayDispatch(action, name, word)))
                    action.searchParams.append(name, word);
        }
        const names = form.method === 'GET' ? namesOfInputs(form) : undefined;
        const address = addressIn(collection.choices, { method: form.method, url: action }, undefined, names);
        const body = form.method === 'POST' ? withFewWords(bodyOfForm(form), collection.choices, action) : undefined;
        const operation = body?.sort === 'operation' ? body.operation : undefined;
        const inputs = form.method === 'POST' ? inputsIn(collection.choices, action, namesOfInputs(form)) : '';
        const key = `${address.key} ${operation?.key ?? ''} form ${inputs}`;
        const known = collection.groups.get(key) ?? { ...createGroup(address, operation), inputs };
        known.form = joinForms(known.form, factsOf(form, method === 'GET' ? page : undefined));
        addText(known.pages.callers, title);
        addText(known.pages.submits, form.submit);
        if (collection.groups.size < MAX_GROUPS) collection.groups.set(key, known);
    }
}
