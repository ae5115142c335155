import type { Endpoint, JsonObject, PackageAuth } from '../../types.ts';
import { flowsOf, needOf } from '../auth.ts';

/** The authentication methods of a package as `components.securitySchemes`; undefined if it has none. */
export function securitySchemesOf(auth: readonly PackageAuth[]): JsonObject | undefined {
    return auth.length === 0 ? undefined : Object.fromEntries(auth.map((entry) => [entry.id, schemeOf(entry)]));
}

/** The methods that a call accepts, each alone sufficient. An empty entry: a call without credential is accepted too. */
export function securityOf(endpoint: Endpoint, auth: readonly PackageAuth[]): JsonObject[] {
    const need = needOf(endpoint, auth);
    if (need === 'none') return [];
    const host = URL.parse(endpoint.url)?.hostname ?? '';
    const sent = auth.filter(({ hosts }) => hosts === undefined || hosts.includes(host));
    const methods = sent.map(({ id, oauth2 }): JsonObject => ({ [id]: oauth2 === undefined ? [] : [...endpoint.scopes] }));
    return need === 'optional' ? [{}, ...methods] : methods;
}

function schemeOf(entry: PackageAuth): JsonObject {
    const { type, name = '', description, prefix, obtain_url, test, hosts } = entry;
    const more = {
        ...(prefix !== undefined && { prefix }),
        ...(obtain_url !== undefined && { obtain_url }),
        ...(test !== undefined && { test }),
        ...(hosts !== undefined && { hosts }),
    };
    const common = {
        ...(description !== undefined && { description }),
        ...(Object.keys(more).length > 0 && { 'x-routebook': more }),
    };
    switch (type) {
        case 'header':
        case 'query':
        case 'cookie':
            return { type: 'apiKey', in: type, name, ...common };
        case 'basic':
        case 'bearer':
            return { type: 'http', scheme: type, ...common };
        case 'oauth2':
            return { type: 'oauth2', flows: oauthFlowsOf(entry), ...common };
    }
}

function oauthFlowsOf(entry: PackageAuth): JsonObject {
    const { authorization_url: authorizationUrl = '', token_url: tokenUrl = '', scopes = [] } = entry.oauth2 ?? {};
    const granted = { tokenUrl, scopes: Object.fromEntries(scopes.map((scope) => [scope.name, scope.description ?? ''])) };
    const flows = flowsOf(entry);
    return {
        ...(flows.includes('authorization_code') && { authorizationCode: { authorizationUrl, ...granted } }),
        ...(flows.includes('client_credentials') && { clientCredentials: granted }),
    };
}
