import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { isCategory } from '../../../shared/domain/package/taxonomy.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { guessCategory } from '../../inspect/category.ts';
import { finish, type Imported, type ImportOptions } from '../imported.ts';
import type { NotCarried, ReadOperation } from '../operation.ts';
import { cleanLine, cleanText, shown } from '../texts.ts';
import { referencesIn } from './folder.ts';
import { readOperation } from './operations.ts';
import { openResolver } from './refs.ts';
import { openSchemaReader } from './schemas.ts';
import { chooseServer, type Server, serverOfSite, siteOfBases } from './servers.ts';

const METHODS: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query']);

/** Imports an OpenAPI 3.x document (issue "command line", `import`): each operation is carried or listed with its reason. */
export function importOpenApi(document: JsonObject, options: ImportOptions): Imported {
    const resolver = openResolver(document);
    const notCarried: NotCarried[] = [];
    const named = options.site === undefined ? undefined : normaliseSite(options.site);
    const site = named?.ok === true ? named.site : options.site;
    const base = chooseServer(document['servers'], site) ?? serverOfSite(site);
    const context = {
        resolver,
        schemas: openSchemaReader(resolver),
        security: document['security'],
        schemes: schemesOf(document),
        names: new Set<string>(),
    };
    const operations: (ReadOperation & { base: string })[] = [];
    for (const { where, method, path, item, operation } of operationsOf(document, resolver, notCarried)) {
        const server = chooseServer(operation['servers'], site) ?? chooseServer(item['servers'], site) ?? base;
        const read = server.ok ? readOperation({ where, method, path, item, operation, base: server.base }, context) : server;
        if (!read.ok || !server.ok) {
            notCarried.push({ where, why: read.ok ? '' : read.why, scope: 'operation' });
            continue;
        }
        for (const { name, why } of read.left) notCarried.push({ where: `${where}, ${name}`, why, scope: 'part' });
        operations.push({ where, endpoint: read.endpoint, base: server.base });
    }
    noteServers(document, base, notCarried);
    noteReferences(document, notCarried);
    noteSurroundings(document, notCarried);
    const own = site ?? siteOfBases(operations.map((operation) => operation.base)) ?? (base.ok ? new URL(base.base).hostname : 'unknown');
    return finish(headOf(document, own, operations, options), operations, notCarried, options);
}

interface FoundOperation {
    where: string;
    method: string;
    path: string;
    item: JsonObject;
    operation: JsonObject;
}

function operationsOf(document: JsonObject, resolver: ReturnType<typeof openResolver>, notCarried: NotCarried[]): FoundOperation[] {
    const paths = isObject(document['paths']) ? document['paths'] : {};
    return Object.entries(paths).flatMap(([path, written]) => {
        if (!path.startsWith('/')) return [];
        const item = resolver.resolve(written);
        if (item === undefined) {
            notCarried.push({ where: shown(path), why: 'The path refers to nothing in this document.', scope: 'document' });
            return [];
        }
        return Object.entries(item).flatMap(([key, operation]) =>
            METHODS.has(key) && isObject(operation)
                ? [{ where: `${key.toUpperCase()} ${shown(path)}`, method: key.toUpperCase(), path, item, operation }]
                : [],
        );
    });
}

/** Names of the ways of signing in, with what a caller would have to have. */
function schemesOf(document: JsonObject): Map<string, string> {
    const components = isObject(document['components']) ? document['components'] : {};
    const schemes = isObject(components['securitySchemes']) ? components['securitySchemes'] : {};
    return new Map(
        Object.entries(schemes).map(([name, scheme]) => [
            name,
            isObject(scheme)
                ? `${shown(String(scheme['type'] ?? ''))} ${shown(String(scheme['scheme'] ?? scheme['in'] ?? ''))}`.trim()
                : 'unknown',
        ]),
    );
}

function noteServers(document: JsonObject, base: Server, notCarried: NotCarried[]): void {
    if (base.ok && base.wasHttp)
        notCarried.push({
            where: 'servers',
            why: 'The server is given as http, which a package cannot call; https was taken.',
            scope: 'document',
        });
    const servers = Array.isArray(document['servers']) ? document['servers'] : [];
    if (servers.length > 1)
        notCarried.push({
            where: 'servers',
            why: `Of ${servers.length} servers one was taken; a package has one address for each endpoint.`,
            scope: 'document',
        });
}

const MAX_NOTED = 100;

/** References out of the document, which only the files of its folder answer. */
function noteReferences(document: JsonObject, notCarried: NotCarried[]): void {
    const refs = new Set(referencesIn(document).map(({ $ref: ref }) => String(ref)));
    const outside = [...refs].filter((ref) => !ref.startsWith('#'));
    for (const ref of outside.slice(0, MAX_NOTED)) {
        const why = /^[a-z][a-z0-9+.-]*:|^\/\//i.test(ref)
            ? 'It refers to an address, and nothing is fetched; put the file into the folder of the document.'
            : 'It refers to a file that is not in the folder of the document.';
        notCarried.push({ where: `$ref ${shown(ref)}`, why, scope: 'document' });
    }
    if (outside.length > MAX_NOTED)
        notCarried.push({ where: '$ref', why: `There are ${outside.length - MAX_NOTED} more such references.`, scope: 'document' });
}

/** What stands beside the paths and has no place in a package. */
function noteSurroundings(document: JsonObject, notCarried: NotCarried[]): void {
    const webhooks = isObject(document['webhooks']) ? Object.keys(document['webhooks']).length : 0;
    if (webhooks > 0)
        notCarried.push({
            where: 'webhooks',
            why: `A package has no calls from the site to somebody else (${webhooks} webhooks).`,
            scope: 'document',
        });
}

function headOf(document: JsonObject, site: string, operations: readonly ReadOperation[], options: ImportOptions) {
    const info = isObject(document['info']) ? document['info'] : {};
    const tags = (Array.isArray(document['tags']) ? document['tags'] : []).flatMap((tag: Json) =>
        isObject(tag) && typeof tag['name'] === 'string' ? [tag['name']] : [],
    );
    const title = options.title ?? cleanLine(info['title'], 200) ?? site;
    const words = [site, title, ...tags, ...operations.map(({ endpoint }) => new URL(endpoint.url).pathname)];
    const description = cleanText(info['description'], 1500);
    return {
        format: 'routebook/1' as const,
        site,
        title,
        ...(description === undefined ? {} : { description }),
        intent_category: options.category !== undefined && isCategory(options.category) ? options.category : guessCategory(words).category,
    };
}
