import { createSender } from './crowd-client.ts';
import type { HostilePackage } from './requests.ts';
import { again, type Heard, type Target } from './stranger.ts';

/** The URLs that everybody may read a package from, unchanged and in other formats. */
export function readsOf(site: string): readonly string[] {
    return [
        `/v1/catalog/${site}?intent=find+words+of+this+site+please`,
        `/v1/schemas/${site}`,
        `/v1/schemas/${site}/package`,
        `/v1/schemas/${site}/package?format=openapi`,
        `/v1/schemas/${site}/package?format=tools`,
        `/v1/schemas/${site}/package?format=postman`,
        `/v1/schemas/${site}/package?format=bruno`,
        `/v1/schemas/${site}/package?format=typescript`,
        `/v1/schemas/${site}/package?format=python`,
        '/v1/schemas?limit=100',
        `/v1/schemas/${site}/versions`,
        `/registry/${site}`,
    ];
}

/** Publishes a package, then calls and reads it repeatedly. A refused one is sent repeatedly. */
export async function publishAndRead(
    { isTaken, document, calls }: Pick<HostilePackage, 'isTaken' | 'document' | 'calls'>,
    target: Target,
    until: AbortSignal,
): Promise<Heard> {
    const { apiKey, site } = target;
    const sender = createSender(target.base, until);
    const publish = () => sender.call('POST', '/v1/schemas', { apiKey, body: document(site) });
    if (!isTaken) return again(target, until, publish);
    const published = await publish();
    if (published.status !== 201) throw new Error(`publishing was refused: ${published.status} ${published.text}`);
    const acts = [
        ...calls.map((call) => () => sender.call('POST', '/v1/fetch', { apiKey, body: { site, ...call, dry_run: true } })),
        ...readsOf(site).map((path) => () => sender.call('GET', path, { apiKey })),
    ];
    return again(target, until, (turn) => (acts[turn % acts.length] as (typeof acts)[number])());
}
