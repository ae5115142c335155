import type { PackageDocument } from '../../../shared/domain/types.ts';
import { json } from '../library.ts';
import { openSite, type Site } from '../sites.ts';

/** Endpoints of a site with failures, by the code that each causes. */
export const ODD_ENDPOINTS = {
    missing: 'UPSTREAM_STATUS',
    cut: 'UPSTREAM_UNREACHABLE',
    wall: 'UPSTREAM_BLOCKED',
    broken: 'UPSTREAM_INVALID_RESPONSE',
    large: 'UPSTREAM_TOO_LARGE',
    away: 'UPSTREAM_REDIRECT',
    limited: 'UPSTREAM_RATE_LIMITED',
    silent: 'UPSTREAM_TIMEOUT',
} as const;

const LARGE = Buffer.alloc(6 * 1024 * 1024, ' ');

export function openOddSite(): Promise<Site> {
    return openSite((request, response) => {
        switch (request.url) {
            case '/cut':
                response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
                return void response.write('{"a":1', () => response.destroy());
            case '/wall':
                return void response.writeHead(403, { 'content-type': 'text/html', 'cf-mitigated': 'challenge' }).end('<p>Wait</p>');
            case '/broken':
                return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":');
            case '/large':
                return void response.writeHead(200, { 'content-type': 'application/json' }).end(LARGE);
            case '/away':
                return void response.writeHead(302, { location: 'http://elsewhere.test/' }).end();
            case '/limited':
                return json(response, 429, { error: 'slower' });
            case '/silent':
                return undefined;
            default:
                return json(response, 404, { error: 'no such page' });
        }
    });
}

/** Its package under another name. Each site name has its own circuit, so an open one does not affect the others. */
export function oddPackage(site: string, port: number): PackageDocument {
    return {
        format: 'routebook/1',
        site,
        title: 'Odd',
        intent_category: 'commerce',
        endpoints: Object.keys(ODD_ENDPOINTS).map((name) => ({ name, method: 'GET', url: `http://${site}:${port}/${name}` })),
    };
}
