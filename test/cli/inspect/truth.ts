import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsOf } from '../../../cli/inspect/words/harmless.ts';
import type { PackageDocument, PackageEndpoint } from '../../../shared/domain/types.ts';

/** A route in the form of `test/fixtures/inspect/*.truth.json`. */
export interface TrueRoute {
    method: string;
    url: string;
    query?: string[];
    body?: string[];
    may_have?: string[];
    /** A constant in its body or headers that distinguishes it from others at its address. */
    says?: string;
}

/** The routes of an application: those that a draft must contain, and others that it may contain. */
export interface Truth {
    routes: TrueRoute[];
    may_exist?: TrueRoute[];
}

/** How a draft differs from the truth: missing or wrong routes, and endpoints that are not routes. */
export interface Decision {
    routes: number;
    right: number;
    missing: string[];
    tooMany: string[];
}

export function truthOf(application: string): Truth {
    const file = join(import.meta.dirname, '../../fixtures/inspect', `${application}.truth.json`);
    return JSON.parse(readFileSync(file, 'utf8')) as Truth;
}

/** A route is right if its method, template and params are: each param in its place, none missing, none too many. */
export function check(document: PackageDocument, { routes, may_exist: others = [] }: Truth): Decision {
    const left = new Set(document.endpoints);
    const missing: string[] = [];
    for (const route of routes) {
        const found = document.endpoints.find((endpoint) => left.has(endpoint) && isRight(endpoint, route));
        if (found === undefined)
            missing.push(`${route.method} ${route.url} ${JSON.stringify(route.query ?? [])} ${JSON.stringify(route.body ?? [])}`);
        else left.delete(found);
    }
    for (const other of others) {
        const found = [...left].find((endpoint) => isRight(endpoint, other));
        if (found !== undefined) left.delete(found);
    }
    const tooMany = [...left].map(
        (endpoint) => `${endpoint.method} ${templateOf(endpoint)} ${namesIn(endpoint, 'query')} ${namesIn(endpoint, 'body')}`,
    );
    return { routes: routes.length, right: routes.length - missing.length, missing, tooMany };
}

function isRight(endpoint: PackageEndpoint, route: TrueRoute): boolean {
    if (endpoint.method !== route.method || templateOf(endpoint) !== nameless(route.url)) return false;
    if (route.says !== undefined && !JSON.stringify([endpoint.body, endpoint.params, endpoint.headers]).includes(route.says)) return false;
    if (route.body?.[0] === '*') return namesIn(endpoint, 'body').length === 1 && fits(namesIn(endpoint, 'query'), route.query, []);
    return fits(namesIn(endpoint, 'query'), route.query, route.may_have) && fits(namesIn(endpoint, 'body'), route.body, route.may_have);
}

function fits(names: readonly string[], wanted: readonly string[] = [], allowed: readonly string[] = []): boolean {
    const [given, all] = [plain(names), [...plain(wanted), ...plain(allowed)]];
    return plain(wanted).every((name) => given.includes(name)) && given.every((name) => all.includes(name));
}

/** Placeholders of a body have the names of its keys, as identifiers. */
function plain(names: readonly string[]): string[] {
    return names.map((name) => (/^[\w[\]-]+$/.test(name) ? wordsOf(name).join('_') : name));
}

/** The path with nameless placeholders; constants in the query belong to it. */
function templateOf({ url }: PackageEndpoint): string {
    return nameless(url.replace(/^https?:\/\/[^/]+/, ''));
}

function nameless(template: string): string {
    const [path = '', query = ''] = template.replaceAll(/\{[^{}]*\}/g, '{}').split('?');
    const pairs = decodeURIComponent(query).split('&').sort();
    return `${path}?${pairs.join('&')}`;
}

function namesIn({ params = [] }: PackageEndpoint, source: string): string[] {
    return params.filter((param) => param.source === source).map(({ name }) => name);
}
