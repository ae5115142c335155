import type { PackageDocument } from '../../shared/domain/types.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite } from '../support/sites.ts';
import { createSender } from './crowd-client.ts';
import type { Bomb } from './packages.ts';
import { again, type Heard, type Target } from './stranger.ts';

/** The site's response at this path. */
export function bodyAt({ body, bodyAt: at }: Bomb, path: string): string {
    return at === undefined ? body : at(path);
}

/** A package with this bomb as its one endpoint. */
export function packageOf({ response, pagination }: Bomb, site: string, port: number): PackageDocument {
    const bomb = anEndpoint(site, {
        name: 'bomb',
        params: [],
        url: `http://${site}:${port}/bomb`,
        response,
        ...(pagination === undefined ? {} : { pagination }),
    } as object);
    return aPackage(site, { endpoints: [bomb] });
}

/** Serves the bomb, publishes it, and fetches it repeatedly. */
export async function fetchAgain(bomb: Bomb, target: Target, until: AbortSignal): Promise<Heard> {
    const site = await openSite((request, response) => {
        response.writeHead(200, { 'content-type': bomb.contentType }).end(bodyAt(bomb, request.url ?? ''));
    });
    try {
        const { apiKey } = target;
        const sender = createSender(target.base, until);
        const published = await sender.call('POST', '/v1/schemas', { apiKey, body: packageOf(bomb, target.site, site.port) });
        if (published.status !== 201) throw new Error(`publishing was refused: ${published.status} ${published.text}`);
        const body = { site: target.site, endpoint: 'bomb', params: {} };
        return await again(target, until, () => sender.call('POST', '/v1/fetch', { apiKey, body }));
    } finally {
        await site.close();
    }
}
