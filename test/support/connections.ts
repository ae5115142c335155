import type { PackageAuth, PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { anEndpoint, aPackage } from './schemas.ts';

/** A site that requires a credential. */
export const CONNECTED = 'connected.test';

export const API_KEY: PackageAuth = { id: 'api_key', type: 'header', name: 'X-Api-Key', obtain_url: `https://${CONNECTED}/keys` };

/** The package of this site: `mine` needs a credential. @param base origin of its URLs */
export function connectedPackage(
    site = CONNECTED,
    {
        auth = [API_KEY],
        base = `https://${site}`,
        endpoints = [],
    }: { auth?: PackageAuth[]; base?: string; endpoints?: PackageEndpoint[] } = {},
): PackageDocument {
    return aPackage(site, { auth, endpoints: [anEndpoint(site, { name: 'mine', url: `${base}/echo/mine`, params: [] }), ...endpoints] });
}

/** A site with OAuth. */
export const CONSENTED = 'consented.test';

/** Its package. */
export function consentedPackage(site = CONSENTED): PackageDocument {
    const account: PackageAuth = {
        id: 'account',
        type: 'oauth2',
        oauth2: {
            authorization_url: `https://${site}/authorize`,
            token_url: `https://${site}/token`,
            scopes: [{ name: 'orders', description: 'Reads orders' }],
        },
    };
    return connectedPackage(site, { auth: [account] });
}
