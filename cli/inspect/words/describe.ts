import { isObject, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import type { JsonObject, JsonSchema, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';
import { wordsOf } from './harmless.ts';

/**
 * Describes an endpoint with the words of its name and of its response fields. These names are part of the draft's schema, and no recorded
 * value is used. @param lead what pages of the site call it; replaces the words of its name
 */
export function describeEndpoint({ name, kind, hosted, params = [], response }: PackageEndpoint, lead?: string): string {
    const said = leadOf(sentence(name.split('_')), lead);
    const { fields, isList } = answeredFields({ response });
    const answered = fields.length === 0 ? '' : isList ? ` Each item has ${joinNames(fields)}.` : ` Answers with ${joinNames(fields)}.`;
    const asked = params.filter(({ required }) => required).map((param) => wordsOf(param.name).join(' '));
    const by = asked.length === 0 ? '' : ` Needs ${joinNames(asked.slice(0, MAX_FIELDS))}.`;
    const bound = hosted === false ? ' Each request needs a new token.' : '';
    return `${said}${kind === 'paginate' ? ', page by page' : ''}.${by}${bound}${answered}`;
}

/** The field names of an endpoint's responses. */
export function answeredFields({ response }: { response?: PackageEndpoint['response'] | undefined }): {
    fields: string[];
    isList: boolean;
} {
    if (response?.type === 'feed') return { fields: FIELDS_OF_FEED, isList: true };
    const thing = isObject(response?.select) ? Object.keys(response.select).filter((name) => name !== 'items' && name !== 'urls') : [];
    if (thing.length > 0) return { fields: thing.slice(0, MAX_FIELDS), isList: false };
    const selected = selectedFields(response?.select);
    return selected.length > 0 ? { fields: selected, isList: true } : fieldsOf(response?.schema);
}

/** Of the fields that every item of a feed has, those that say what it is. */
const FIELDS_OF_FEED = ['title', 'url', 'summary', 'content', 'authors', 'published_at'];

/** A single word from a page says less than the name, so both appear. */
function leadOf(byName: string, lead: string | undefined): string {
    if (lead === undefined) return byName;
    const said = lead.replace(/[\s.:…]+$/, '');
    return /\s/.test(said) ? sentence([said]) : `${byName} (“${said}”)`;
}

/** The field names of the selected items of a page, or of its data. */
function selectedFields(select: unknown): string[] {
    const items = isObject(select) ? select['items'] : undefined;
    const [entry] = [items].flat();
    if (!isObject(entry)) return [];
    const { value, json, path } = entry as JsonObject;
    const names = isObject(value) ? Object.keys(value) : [...`${json ?? path ?? ''}`.matchAll(/(\w+): /g)].map(([, name = '']) => name);
    return names.slice(0, MAX_FIELDS);
}

/** The caller chooses page and order of a list, even if every recorded request had the same ones. */
export function isPlaceInList(name: string): boolean {
    return wordsOf(name).some((word) => PLACES.has(word));
}

const PLACES: ReadonlySet<string> = new Set(
    'page offset start skip limit size count cursor after before sort order orderby sortby direction dir lang locale language'.split(' '),
);

/** Describes a site by its first endpoints. */
export function describeSite(site: string, endpoints: readonly PackageEndpoint[]): string {
    const acts = endpoints.slice(0, MAX_ACTIONS).map(({ name }) => name.replaceAll('_', ' '));
    const more = endpoints.length > MAX_ACTIONS ? ' and more' : '';
    return acts.length === 0 ? '' : `What callers can do on ${site}: ${acts.join(', ')}${more}.`;
}

type Described = Pick<PackageParam, 'name' | 'source' | 'schema'>;

/** Whether the caller invents the value of a param, such as search words. Ids and names come from the site. */
export function isCallersOwn(param: Described): boolean {
    return roleOf(param) !== undefined || (param.source === 'body' && !/^(?:id|ids|key|slug)$/.test(wordsOf(param.name).at(-1) ?? ''));
}

/** The usual meaning of a name. Most body fields are stored by the site and do not control the response. */
function roleOf({ name, source, schema }: Described): (typeof ROLES)[number] | undefined {
    const type = isObject(schema) ? schema['type'] : undefined;
    if (source === 'body' && (type === 'object' || type === 'array')) return undefined;
    const words = wordsOf(name).join(' ');
    return ROLES.find(({ names, isNumber }) => names.test(words) && (isNumber === undefined || isNumber === (type !== 'string')));
}

/** Describes a param by the usual meaning of its name, otherwise by its name and place. */
export function describeParam(param: Described): string {
    const { name, source, schema } = param;
    const words = wordsOf(name);
    const type = isObject(schema) ? schema['type'] : undefined;
    const role = roleOf(param);
    if (role !== undefined) return role.means;
    const said = words.join(' ');
    if (said === '') return source === 'body' ? 'The body that is sent.' : 'What is asked for.';
    if (words.at(-1) === 'id' || words.at(-1) === 'ids')
        return words.length > 1 ? `The id of the ${words.slice(0, -1).join(' ')}.` : 'Its id.';
    if (type === 'boolean') return `Whether ${said}.`;
    if (type === 'array' && isByPlace(param)) return `The arguments of the call, in order: ${kindsIn(schema)}.`;
    if (type === 'array')
        return `${said === 'body' ? 'The list that is sent' : `One or more of ${said}`}${withFields(schema, ', each with')}.`;
    if (type === 'object') return `The ${said}${withFields(schema, ', with')}.`;
    return source === 'path' ? `Which ${said}.` : said.length <= MAX_ABBREVIATION ? `The value of “${said}”.` : `The ${said}.`;
}

/** Whether a param is a list of arguments of several kinds, each with its meaning by its place. */
export function isByPlace({ name, schema }: Described): boolean {
    return /^(?:params|args|arguments)$/.test(name) && typesOfItems(schema).length > 1;
}

/** The kinds of values in a list, such as `texts, numbers and objects with company and language`. */
function kindsIn(schema: JsonSchema | undefined): string {
    const objects = withFields({ ...itemsOf(schema), type: 'object' }, ' with');
    const kinds = typesOfItems(schema)
        .sort()
        .flatMap((type) => KINDS[type] ?? [])
        .map((kind) => (kind === KINDS['object'] ? `${kind}${objects}` : kind));
    return joinNames([...new Set(kinds)]);
}

const KINDS: Readonly<Record<string, string>> = {
    array: 'lists',
    boolean: 'true or false',
    integer: 'numbers',
    null: 'null',
    number: 'numbers',
    object: 'objects',
    string: 'texts',
};

function itemsOf(schema: JsonSchema | undefined): JsonObject {
    return objectOf(isObject(schema) ? schema['items'] : undefined);
}

function typesOfItems(schema: JsonSchema | undefined): string[] {
    const { type } = itemsOf(schema);
    return Array.isArray(type) ? type.map(String) : [];
}

/** The fields of an object, or of each object in a list, behind `words`. */
function withFields(schema: JsonSchema | undefined, words: string): string {
    const things = isObject(schema) && schema['type'] === 'array' ? schema['items'] : schema;
    const fields = isObject(things) && things['type'] === 'object' ? Object.keys(propertiesOf(things)).slice(0, MAX_FIELDS) : [];
    return fields.length === 0 ? '' : `${words} ${joinNames(fields)}`;
}

const MAX_FIELDS = 8;
/** A name of at most this many letters is an abbreviation. */
const MAX_ABBREVIATION = 2;
const MAX_ACTIONS = 6;

const HOW_MANY = /^(?:size|count|top|rows|n|max results?)$|(?:^|\s)(?:limit|per page|page ?size)$/;

/** Whether a param usually bounds the number of items. */
export function saysHowMany(name: string): boolean {
    return HOW_MANY.test(wordsOf(name).join(' '));
}

const ROLES: readonly { names: RegExp; means: string; isNumber?: boolean }[] = [
    { names: /^(?:lat|latitude)$/, means: 'The latitude, in degrees.', isNumber: true },
    { names: /^(?:lng|lon|long|longitude)$/, means: 'The longitude, in degrees.', isNumber: true },
    { names: /^(?:page|p|pg|page (?:number|no|num|index)|current page)$/, means: 'Which page of the list, by number.', isNumber: true },
    { names: HOW_MANY, means: 'The number of items to return.' },
    { names: /^(?:offset|start|skip|first result|start index)$/, means: 'The number of items to skip.' },
    {
        names: /^(?:cursor|after|before|page token|continuation(?: token)?|next)$/,
        means: 'The position after the preceding page, as that page returned it.',
    },
    { names: /^(?:q|s|query|search|search ?term|term|terms|text|keywords?|words)$/, means: 'Words to look for.' },
    { names: /^(?:sort|sort by|order by|sort ?field)$/, means: 'The field to sort by.' },
    { names: /^(?:order|dir|direction|sort order)$/, means: 'The direction of the order.' },
    { names: /^(?:lang|language|lng|locale|hl)$/, means: 'The language of the answer, such as en.', isNumber: false },
    { names: /^(?:since|from date|start date|date from|min date)$/, means: 'The earliest time or event to return.' },
    { names: /^(?:until|to date|end date|date to|max date)$/, means: 'The latest time or event to return.' },
    { names: /^(?:year|month|day)$/, means: 'A part of the date, as a number.' },
    { names: /^(?:fields|select|include|expand)$/, means: 'The fields to return.' },
];

function sentence(words: readonly string[]): string {
    const text = words.join(' ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `a, b and c`. */
export function joinNames(names: readonly string[]): string {
    return joined(names, 'and');
}

/** `a, b or c`. */
export function oneOf(names: readonly string[]): string {
    return joined(names, 'or');
}

function joined(names: readonly string[], word: string): string {
    return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

/** The field names of a response, or of its items if it is a list. */
function fieldsOf(schema: JsonSchema | undefined): { fields: string[]; isList: boolean } {
    const properties = unwrap(withoutEnvelope(propertiesOf(schema)));
    // The entries of a map, whose keys are values, are listed like items.
    const entries = isObject(schema) ? propertiesOf(schema['additionalProperties']) : {};
    const items = [entries, ...Object.values(properties).map((property) => (isObject(property) ? propertiesOf(property['items']) : {}))];
    const inList = items.find((item) => Object.keys(item).length > 0);
    const isList = inList !== undefined && Object.keys(properties).length <= 3;
    return { fields: Object.keys(isList ? inList : properties).slice(0, MAX_FIELDS), isList };
}

/** What a remote call returned, without what JSON-RPC says of the call itself. */
function withoutEnvelope(properties: Record<string, unknown>): Record<string, unknown> {
    const { jsonrpc: _jsonrpc, id: _id, error: _error, ...inside } = properties;
    return Object.keys(inside).join() === 'result' ? inside : properties;
}

/** The content of a response that has a single wrapper field, such as `data` of GraphQL. */
function unwrap(properties: Record<string, unknown>, levels = 2): Record<string, unknown> {
    const [only, ...others] = Object.values(properties);
    const inside = others.length === 0 && levels > 0 ? propertiesOf(only) : {};
    return Object.keys(inside).length === 0 ? properties : unwrap(inside, levels - 1);
}

function propertiesOf(schema: unknown): Record<string, unknown> {
    const properties = isObject(schema) ? schema['properties'] : undefined;
    return objectOf(properties);
}
