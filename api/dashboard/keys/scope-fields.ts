import {
    EFFECTS,
    type ListedPart,
    ROUTE_SCOPES,
    type RouteScope,
    readScopeList,
    type Scopes,
} from '../../../shared/domain/accounts/scopes.ts';
import type { Effect, JsonObject } from '../../../shared/domain/types.ts';
import type { Fields, FormResult } from '../fields.ts';

const LISTS: readonly ListedPart[] = ['sites', 'endpoints', 'ip_allow'];
/** The word that allows all connections. An empty list allows none, so that no key gets connections by accident. */
const ALL = 'all';

const ROUTE_WORDS: Readonly<Record<RouteScope, string>> = {
    fetch: 'call endpoints',
    catalog: 'look up sites',
    jobs: 'run batches, monitors and webhooks, and with account read events',
    publish: 'publish schemas',
    maintain: 'yank versions, change maintainers, claim domains',
    account: 'read the audit log of the workspace',
};

/** Reads the scopes of a form. A form without scope fields keeps the previous scopes. */
export function readScopeFields(fields: Fields, before: Scopes): FormResult<Scopes> {
    if (!showsScopes(fields)) return { ok: true, values: before };
    const problems: Record<string, string> = {};
    const listed: Partial<Record<ListedPart, string[] | null>> = {};
    for (const part of LISTS) {
        const read = readScopeList(part, fields.get(part) ?? '');
        if (read.ok) listed[part] = read.values;
        else problems[part] = `${read.message}.`;
    }
    const connections = readConnections(fields.get('connections') ?? '');
    if (!connections.ok) problems['connections'] = `${connections.message}.`;
    const effects = EFFECTS.filter((effect) => fields.has(`effect_${effect}`));
    if (effects.length === 0) problems['effects'] = 'Choose at least one of these.';
    if (!connections.ok || Object.keys(problems).length > 0) return { ok: false, problems };
    const routes = ROUTE_SCOPES.filter((route) => fields.has(`route_${route}`));
    const { sites = null, endpoints = null, ip_allow = null } = listed;
    return { ok: true, values: { ...before, effects, routes, sites, endpoints, connections: connections.values, ip_allow } };
}

function readConnections(text: string): ReturnType<typeof readScopeList> {
    if (text.trim() === ALL) return { ok: true, values: null };
    const read = readScopeList('connections', text);
    return read.ok ? { ok: true, values: read.values ?? [] } : read;
}

/** Values for the form: those that were sent, or else the stored scopes. */
export function shownScopes(fields: Fields, scopes: Scopes) {
    const isSent = showsScopes(fields);
    const isTicked = (name: string, isSet: boolean) => (isSent ? fields.has(name) : isSet);
    const listOf = (part: ListedPart) => (isSent ? (fields.get(part) ?? '') : (scopes[part] ?? []).join('\n'));
    return {
        routes: ROUTE_SCOPES.map((route) => ({
            name: `route_${route}`,
            label: route,
            words: ROUTE_WORDS[route],
            isTicked: isTicked(`route_${route}`, scopes.routes.includes(route)),
        })),
        effects: EFFECTS.map((effect: Effect) => ({
            name: `effect_${effect}`,
            label: effect,
            words: effect === 'read' ? 'endpoints that change nothing' : 'endpoints that may change something on a site',
            isTicked: isTicked(`effect_${effect}`, scopes.effects.includes(effect)),
        })),
        sites: listOf('sites'),
        endpoints: listOf('endpoints'),
        connections: !isSent && scopes.connections === null ? ALL : listOf('connections'),
        ip_allow: listOf('ip_allow'),
    };
}

export function scopeDetails({ effects, sites, endpoints, connections, routes, ip_allow }: Scopes): JsonObject {
    const copy = (names: readonly string[] | null) => (names === null ? null : [...names]);
    return {
        effects: [...effects],
        routes: [...routes],
        sites: copy(sites),
        endpoints: copy(endpoints),
        connections: copy(connections),
        ip_allow: copy(ip_allow),
    };
}

function showsScopes(fields: Fields): boolean {
    return fields.get('scopes') === 'shown';
}
