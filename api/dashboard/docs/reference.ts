import { BODY_EXAMPLES } from '../../../shared/contracts/examples.ts';
import { CONTRACTS } from '../../../shared/contracts/index.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import { openApiBytes } from '../../answers/openapi-bytes.ts';

/** One route as its documentation page shows it. */
interface Operation {
    id: string;
    method: string;
    path: string;
    summary: string;
    description: Words;
    auth: 'required' | 'optional' | 'ignored';
    isCounted: boolean;
    /** The values in path, query, headers and body. */
    fields: Field[];
    /** Whether the OpenAPI document has an example of a success. The page loads that example on request. */
    hasExample: boolean;
    refusals: readonly string[];
    curl: string;
}

interface Field {
    name: string;
    place: string;
    required: boolean;
    /** Empty if the name is clear enough. */
    about: Words;
    takes: string;
    /** All allowed values, if there is a fixed list. */
    choices: string[];
    example: string;
}

/** A text in parts. Parts with `isCode` are shown as code. */
type Words = { text: string; isCode: boolean }[];

/** The routes of one tag. They have a page of their own. */
export interface Chapter {
    tag: string;
    /** Part of the URL of its page. */
    slug: string;
    about: string;
    operations: Operation[];
}

/** Useful example values by param name, since a schema alone has none. */
export const VALUES: Readonly<Record<string, string>> = {
    domain: 'demo-shop.example',
    site: 'demo-shop.example',
    intent: 'find products by their name and read their price',
    version: '1',
    category: 'commerce',
    q: 'wikipedia',
};

/** All routes, in the order of the OpenAPI tags, from the contracts that also validate requests. */
export async function reference(publicUrl: string): Promise<Chapter[]> {
    const { plain } = await openApiBytes(publicUrl);
    const { paths, tags } = JSON.parse(plain.toString()) as {
        paths: Record<string, Record<string, Described>>;
        tags: { name: string; description: string }[];
    };
    const chapters = new Map<string, Operation[]>();
    for (const { name, method, path, tag, auth, counted, refusals } of CONTRACTS) {
        const described = paths[path]?.[method.toLowerCase()] ?? {};
        const fields = fieldsOf(described, name);
        const body = BODY_EXAMPLES[name] === undefined ? undefined : JSON.stringify(BODY_EXAMPLES[name], null, 2);
        const operation: Operation = {
            ...{ id: name, method, path, auth, fields, refusals, isCounted: counted },
            summary: described.summary ?? '',
            description: wordsOf(described.description),
            hasExample: hasExample(described),
            curl: curlOf(publicUrl, { method, path, auth, fields, body }),
        };
        chapters.set(tag, [...(chapters.get(tag) ?? []), operation]);
    }
    return tags.map(({ name: tag, description: about }) => ({
        ...{ tag, slug: tag.toLowerCase(), about, operations: chapters.get(tag) ?? [] },
    }));
}

/** The parts of an OpenAPI operation that the page shows. */
interface Described {
    summary?: string;
    description?: string;
    parameters?: { name: string; in: string; required: boolean; description?: string; schema: JsonObject }[];
    requestBody?: { content: Media };
    responses?: Record<string, { content?: Media }>;
}

type Media = Record<string, { schema: { properties?: Record<string, JsonObject>; required?: string[] }; example?: unknown }>;

const JSON_TYPE = 'application/json';

function fieldsOf({ parameters = [], requestBody }: Described, operation: string): Field[] {
    const { properties = {}, required = [] } = requestBody?.content[JSON_TYPE]?.schema ?? {};
    const isExample = operation === 'getCatalog';
    return [
        // If-None-Match is explained once for all routes, at the top of the page.
        ...parameters
            .filter(({ name }) => name !== 'If-None-Match')
            .map(({ name, in: place, required: isRequired, description, schema }) => ({
                ...{ name, place, required: isRequired, about: wordsOf(description), takes: takesOf(schema), choices: choicesOf(schema) },
                example: isRequired || isExample ? (VALUES[name] ?? '') : '',
            })),
        ...Object.entries(properties).map(([name, schema]) => ({
            ...{ name, place: 'body', required: required.includes(name), takes: takesOf(schema), choices: choicesOf(schema) },
            about: wordsOf(typeof schema['description'] === 'string' ? schema['description'] : undefined),
            example: '',
        })),
    ];
}

function hasExample({ responses = {} }: Described): boolean {
    return Object.values(responses).some(({ content }) => content?.[JSON_TYPE]?.example !== undefined);
}

function wordsOf(text = ''): Words {
    return text
        .split('`')
        .map((part, index) => ({ text: part, isCode: index % 2 === 1 }))
        .filter((part) => part.text !== '');
}

function takesOf(schema: JsonObject): string {
    const { anyOf, default: fallback } = schema;
    const kinds = Array.isArray(anyOf) ? anyOf.map((one) => kindOf(one as JsonObject)) : [kindOf(schema)];
    return `${kinds.join(', or ')}${fallback === undefined ? '' : `, default ${String(fallback)}`}`;
}

function kindOf(schema: JsonObject): string {
    const { type, minimum, maximum, maxLength } = schema;
    const choices = choicesOf(schema);
    if (choices.length > 0) return choices.join(choices.length > 2 ? ', ' : ' or ');
    if (type === 'integer') return ['integer', ...range(minimum, maximum)].join(', ');
    if (typeof maxLength === 'number') return `text, up to ${maxLength.toLocaleString('en-US')} characters`;
    return (Array.isArray(type) ? type : [type]).map((one) => TYPE_WORDS[String(one)] ?? String(one)).join(' or ');
}

const TYPE_WORDS: Readonly<Record<string, string>> = { string: 'text', array: 'list' };

function range(minimum: unknown, maximum: unknown): string[] {
    if (typeof minimum !== 'number') return [];
    const min = minimum.toLocaleString('en-US');
    return [typeof maximum === 'number' ? `${min}–${maximum.toLocaleString('en-US')}` : `${min} or more`];
}

function choicesOf({ type, enum: allowed }: JsonObject): string[] {
    if (Array.isArray(allowed)) return allowed.map(String);
    return type === 'boolean' ? ['true', 'false'] : [];
}

interface Callable extends Pick<Operation, 'method' | 'path' | 'auth' | 'fields'> {
    /** An example body. Undefined if the route takes no body. */
    body: string | undefined;
}

function curlOf(publicUrl: string, { method, path, auth, fields, body }: Callable): string {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(VALUES[name] ?? name));
    const query = new URLSearchParams(
        fields.filter(({ place, example }) => place === 'query' && example !== '').map(({ name, example }) => [name, example]),
    );
    const lines = [
        `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${filled}${query.size === 0 ? '' : `?${query}`}'`,
        ...(auth === 'required' ? ['-H "Authorization: Bearer $ROUTEBOOK_API_KEY"'] : []),
        ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(JSON.parse(body))}'`]),
    ];
    return lines.join(' \\\n  ');
}
