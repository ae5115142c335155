import { EFFECTS, EVERY_SCOPE, type ListedPart, ROUTE_SCOPES, readScopeList, type Scopes } from './scopes.ts';

/**
 * Parses scopes in the format that operators use: `routes=fetch,catalog effects=read sites=shop.example.com endpoints=search
 * ip=203.0.113.0/24`. Parts are separated by white space or `;`. A part that is left out is not limited. `connections` accepts ids, `all`
 * or `none`.
 */
export function readScopes(text: string): { ok: true; scopes: Scopes } | { ok: false; message: string } {
    let scopes: Scopes = EVERY_SCOPE;
    const seen = new Set<string>();
    for (const piece of text.split(/[\s;]+/).filter((written) => written !== '')) {
        const [, name = '', list = ''] = /^([a-z_]+)=(.*)$/.exec(piece) ?? [];
        if (name === '') return wrong(`"${piece}" is not a part of scopes; write parts such as routes=fetch,catalog`);
        if (seen.has(name)) return wrong(`${name} is given twice`);
        seen.add(name);
        const read = readPart(name, list);
        if (!read.ok) return wrong(`${name}: ${read.message}`);
        scopes = { ...scopes, ...read.part };
    }
    return seen.size === 0 ? wrong('it is empty; leave the option out for every scope') : { ok: true, scopes };
}

type PartRead = { ok: true; part: Partial<Scopes> } | { ok: false; message: string };

const NAMES: Readonly<Record<string, ListedPart>> = {
    sites: 'sites',
    endpoints: 'endpoints',
    connections: 'connections',
    ip: 'ip_allow',
    ip_allow: 'ip_allow',
};

function readPart(name: string, list: string): PartRead {
    const words = list.split(',').filter((word) => word !== '');
    if (words.length === 0) return wrong('it is empty; leave it out for all');
    if (name === 'routes') return chosen(words, ROUTE_SCOPES, (routes) => ({ routes }));
    if (name === 'effects') return chosen(words, EFFECTS, (effects) => ({ effects }));
    if (name === 'connections' && (list === 'all' || list === 'none')) {
        return { ok: true, part: { connections: list === 'all' ? null : [] } };
    }
    const part = NAMES[name];
    if (part === undefined) return wrong('the parts are routes, effects, sites, endpoints, connections and ip');
    const read = readScopeList(part, list);
    return read.ok ? { ok: true, part: { [part]: read.values } } : read;
}

function chosen<T extends string>(words: readonly string[], allowed: readonly T[], toPart: (values: T[]) => Partial<Scopes>): PartRead {
    const unknown = words.find((word) => !(allowed as readonly string[]).includes(word));
    if (unknown !== undefined) return wrong(`${unknown} is not one of ${allowed.join(', ')}`);
    return { ok: true, part: toPart(allowed.filter((value) => words.includes(value))) };
}

function wrong(message: string): { ok: false; message: string } {
    return { ok: false, message };
}

/** Scopes in the form that `readScopes` reads. Unlimited parts are omitted; `everything` if no part is limited. */
export function scopeText({ routes, effects, sites, endpoints, connections, ip_allow }: Scopes): string {
    const parts: [string, readonly string[] | null][] = [
        ['routes', routes.length === ROUTE_SCOPES.length ? null : routes],
        ['effects', effects.length === EFFECTS.length ? null : effects],
        ['sites', sites],
        ['endpoints', endpoints],
        ['connections', connections?.length === 0 ? ['none'] : connections],
        ['ip', ip_allow],
    ];
    const limited = parts.flatMap(([name, values]) => (values === null ? [] : [`${name}=${values.join(',')}`]));
    return limited.length === 0 ? 'everything' : limited.join(' ');
}

/** Scopes in words for people, with a line for each limited part. */
export function describeScopes({ routes, effects, sites, endpoints, connections, ip_allow }: Scopes): { name: string; words: string }[] {
    const list = (names: readonly string[] | null, all: string) => (names === null ? all : names.join(', ') || 'none');
    return [
        { name: 'routes', words: list(routes, '') },
        { name: 'effects', words: list(effects, '') },
        { name: 'sites', words: list(sites, 'all') },
        { name: 'endpoints', words: list(endpoints, 'all') },
        { name: 'connections', words: list(connections, 'all') },
        { name: 'addresses', words: list(ip_allow, 'any') },
    ];
}
