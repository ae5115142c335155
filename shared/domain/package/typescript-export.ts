import { type Inliner, inlinerFor } from '../json/schema/inline.ts';
import type { Endpoint, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';
import { schemaOfParams } from './param-schema.ts';
import { comment, RECEIVED, SENT, typeOf } from './typescript-export/types.ts';

export interface SourceFile {
    /** The file name, derived from the site. */
    file: string;
    source: string;
}

/** Hosted endpoints as TypeScript functions, pinned to this version (docs/api.md, "The registry"). @param only names; all by default */
export function exportTypeScript(
    document: PackageDocument,
    { version, versionHash }: { version: number; versionHash: string },
    only?: readonly string[],
): SourceFile {
    const { site, title } = document;
    const endpoints = document.endpoints.map(readEndpoint).filter(({ name, hosted }) => hosted && only?.includes(name) !== false);
    const nameFor = createNames();
    const inliner = inlinerFor(document);
    const functions = endpoints.map((endpoint) => functionOf(endpoint, { site, name: nameFor(endpoint.name), inliner }));
    const lines = [
        ...comment(
            [`${title} (${site}), version ${version}.`, GENERATED, ...(only === undefined ? [] : [`${ONLY}${only.join(', ')}`])].join('\n'),
            0,
        ),
        ...(functions.length === 0 ? [] : IMPORTS),
        '/** The version that the functions call. */',
        `export const VERSION = '${versionHash}';`,
        '',
        ...functions,
    ];
    return { file: `${site}.ts`, source: lines.join('\n') };
}

const GENERATED = 'Routebook generated this file from the published package: do not edit it.';
const ONLY = 'Endpoints: ';

/** Reads the header of a generated file; undefined for any other file. */
export function readGenerated(source: string): { versionHash: string; only?: string[] } | undefined {
    const [, versionHash] = /^export const VERSION = '([0-9a-f]{64})';$/m.exec(source) ?? [];
    if (versionHash === undefined || !source.includes(GENERATED)) return undefined;
    const [, only] = new RegExp(`^ \\* ${ONLY}([\\w, ]+)$`, 'm').exec(source) ?? [];
    return { versionHash, ...(only === undefined ? {} : { only: only.split(', ') }) };
}

const IMPORTS = [
    "import type { CallValue, FetchOptions, FetchOrder, Json, JsonObject, Routebook } from 'routebook/client';",
    '',
    'export type { CallValue, Json, JsonObject };',
    '',
    '/** Bounds and choices of one call. */',
    "export type CallOrder = Omit<FetchOrder, 'site' | 'endpoint' | 'version' | 'params' | 'dry_run'>;",
    '',
];

function functionOf(endpoint: Endpoint, { site, name, inliner }: { site: string; name: string; inliner: Inliner }): string {
    const { params, bodyFormat, response, effect, description } = endpoint;
    const types = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const input = schemaOfParams(params, bodyFormat, inliner);
    const notes = [description, effect === 'write' ? `Writes: it changes something on ${site}.` : ''].filter((note) => note !== '');
    return [
        `export type ${types}Params = ${typeOf(input, SENT)};`,
        '',
        `export type ${types}Result = ${response.schema === undefined ? 'JsonObject' : typeOf(inliner.inline(response.schema), RECEIVED)};`,
        '',
        ...comment(notes.join('\n\n'), 0),
        `export function ${name}(`,
        '    routebook: Routebook,',
        `    params: ${types}Params${input['required'] === undefined ? ' = {}' : ''},`,
        '    order: CallOrder = {},',
        '    options: FetchOptions = {},',
        ') {',
        `    return routebook.fetch<${types}Result>(`,
        `        { ...order, site: ${JSON.stringify(site)}, endpoint: ${JSON.stringify(endpoint.name)}, version: VERSION, params: params as NonNullable<FetchOrder['params']> },`,
        '        options,',
        '    );',
        '}',
        '',
    ].join('\n');
}

/** Words that cannot be the name of a function in a module. */
const RESERVED: ReadonlySet<string> = new Set(
    (
        'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function ' +
        'if implements import in instanceof interface let new null package private protected public return static super switch this throw true ' +
        'try typeof var void while with yield'
    ).split(' '),
);

/** Creates unique names of functions: `product_list` becomes `productList`. */
function createNames(): (endpoint: string) => string {
    const taken = new Set<string>();
    return (endpoint) => {
        const plain = endpoint.replaceAll(/(?<!_)_+([a-z0-9])/g, (_, next: string) => next.toUpperCase());
        let name = RESERVED.has(plain) ? `${plain}_` : plain;
        while (taken.has(name)) name = `${name}_`;
        taken.add(name);
        return name;
    };
}
