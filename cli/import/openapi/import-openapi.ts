import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { isCategory } from '../../../shared/domain/package/taxonomy.ts';
import { normaliseSite, registrableDomain } from '../../../shared/domain/site/site-name.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { guessCategory } from '../../inspect/drafts/category.ts';
import { assemblePackages, type Imported, type ImportOptions } from '../imported.ts';
import { onlyWanted } from '../only.ts';
import { leaveOut, type NotCarried, type ReadOperation } from '../operation.ts';
import { cleanLine, cleanText, printableName, textsOf } from '../texts.ts';
import { referencesIn } from './folder.ts';
import { readOperation } from './operations.ts';
import type { Resolver } from './refs.ts';
import { createReader } from './schemas.ts';
import { Schemes } from './security.ts';
import { chooseServer, isOfCustomer, type Server, serverOfSite, siteOfBases } from './servers.ts';

const METHOD_NAMES = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b/g;
const METHODS: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query']);

/** Imports an OpenAPI 3.x document. Each operation is converted, or listed with the reason why not. */
export function importOpenApi(document: JsonObject, options: ImportOptions): Imported {
    const reader = createReader(document);
    const notCarried: NotCarried[] = [];
    const named = options.site === undefined ? undefined : normaliseSite(options.site);
    const site = named?.ok === true ? named.site : options.site;
    const base = chooseServer(document['servers'], site) ?? serverOfSite(site);
    const found = onlyWanted(operationsOf(document, reader, notCarried), options.only, notCarried).map((one) => ({
        ...one,
        server: chooseServer(one.operation?.['servers'], site) ?? chooseServer(one.item['servers'], site) ?? base,
    }));
    const bases = found.flatMap(({ server }) => (server.ok ? [server.base] : []));
    const own = site ?? siteOfBases(bases) ?? (base.ok ? new URL(base.base).hostname : 'unknown');
    const schemes = new Schemes(document, reader, registrableDomain(own));
    const context = { reader, security: document['security'], schemes, names: new Set<string>() };
    const operations: ReadOperation[] = [];
    for (const { where, method, path, item, operation, tags, server } of found) {
        if (operation === undefined) {
            notCarried.push({ where, why: 'It is not an object.', scope: 'operation' });
            continue;
        }
        const read = server.ok ? readOperation({ method, path, item, operation, base: server.base }, context) : server;
        if (!read.ok || !server.ok) {
            notCarried.push({ where, why: read.ok ? '' : read.why, scope: 'operation' });
            continue;
        }
        for (const { name, why } of read.left) notCarried.push({ where: `${where}, ${name}`, why, scope: 'part' });
        operations.push({ where, endpoint: read.endpoint, tag: tags[0] ?? firstSegment(path), auth: read.auth });
    }
    noteServers(document, base, notCarried);
    noteReferences(document, notCarried);
    noteSurroundings(document, notCarried);
    for (const { where, why } of schemes.notes) leaveOut(notCarried, where, why);
    return assemblePackages(headOf(document, own, operations, options), operations, notCarried, options);
}

function firstSegment(path: string): string {
    return path.split('/').find((segment) => segment !== '' && !segment.includes('{') && !/^(?:api|rest|v\d[\d.]*)$/i.test(segment)) ?? '';
}

interface FoundOperation {
    where: string;
    method: string;
    path: string;
    item: JsonObject;
    /** Undefined if the document's value is not an object. */
    operation: JsonObject | undefined;
    tags: string[];
}

function operationsOf(document: JsonObject, resolver: Resolver, notCarried: NotCarried[]): FoundOperation[] {
    const paths = objectOf(document['paths']);
    return Object.entries(paths).flatMap(([key, written]) => {
        if (key.startsWith('x-')) return [];
        if (/^[a-z]+:/i.test(key)) {
            leaveOut(notCarried, printableName(key), 'This path is a whole URL; leave out its scheme and host.');
            return [];
        }
        // Documents written by hand leave the slash out.
        const path = key.startsWith('/') ? key : `/${key}`;
        const item = resolver.resolve(written);
        if (item === undefined) {
            leaveOut(notCarried, printableName(path), 'The path refers to nothing in this document.');
            return [];
        }
        return Object.entries(item)
            .filter(([key]) => METHODS.has(key.toLowerCase()))
            .map(([key, value]) => {
                const operation = isObject(value) ? value : undefined;
                const method = key.toUpperCase();
                return { where: `${method} ${printableName(path)}`, method, path, item, operation, tags: textsOf(operation?.['tags']) };
            });
    });
}

function noteServers(document: JsonObject, base: Server, notCarried: NotCarried[]): void {
    if (base.ok && base.wasHttp)
        leaveOut(notCarried, 'servers', 'The server is given as http, which a package cannot call; https is used instead.');
    if (base.ok && isOfCustomer(new URL(base.base).hostname))
        leaveOut(notCarried, 'servers', 'A part of the host is a placeholder; name your host with --site.');
    const { length } = listOf(document['servers']);
    if (length > 1) leaveOut(notCarried, 'servers', `Only one of ${length} servers is used; a package has one URL for each endpoint.`);
}

const MAX_NOTED = 100;

/** Lists references that still lead out of the document after the files of its folder were included. */
function noteReferences(document: JsonObject, notCarried: NotCarried[]): void {
    const refs = new Set(referencesIn(document).map(({ $ref: ref }) => String(ref)));
    const outside = [...refs].filter((ref) => !ref.startsWith('#'));
    for (const ref of outside.slice(0, MAX_NOTED)) {
        const why = /^[a-z][a-z0-9+.-]*:|^\/\//i.test(ref)
            ? 'It refers to a URL, which is not fetched; put the file into the folder of the document.'
            : 'It refers to a file that is not in the folder of the document.';
        leaveOut(notCarried, `$ref ${printableName(ref)}`, why);
    }
    if (outside.length > MAX_NOTED) leaveOut(notCarried, '$ref', `There are ${outside.length - MAX_NOTED} more such references.`);
}

/** Lists parts besides the paths that a package cannot contain. */
function noteSurroundings(document: JsonObject, notCarried: NotCarried[]): void {
    const { length } = Object.keys(objectOf(document['webhooks']));
    if (length > 0) leaveOut(notCarried, 'webhooks', `A package cannot describe calls from the site to others (${length} webhooks).`);
}

function headOf(document: JsonObject, site: string, operations: readonly ReadOperation[], options: ImportOptions) {
    const info = objectOf(document['info']);
    const tags = listOf(document['tags']).flatMap((tag: Json) => (isObject(tag) && typeof tag['name'] === 'string' ? [tag['name']] : []));
    const title = options.title ?? cleanLine(info['title'], 200) ?? site;
    const description = cleanText(info['description'], 1500);
    // Titles describe what a site is for. Paths contain too many words such as `status` and `api`, and methods are no words (`POST`).
    const titles = operations
        .slice(0, 200)
        .map(({ tag = '', endpoint }) => `${tag} ${endpoint.description?.split('\n', 1)[0] ?? ''}`.replaceAll(METHOD_NAMES, ' '));
    const words = [site, title, title, description?.slice(0, 300) ?? '', ...tags, ...titles];
    return {
        format: 'routebook/1' as const,
        site,
        title,
        ...(description === undefined ? {} : { description }),
        intent_category: options.category !== undefined && isCategory(options.category) ? options.category : guessCategory(words).category,
    };
}
