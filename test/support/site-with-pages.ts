import { EventEmitter, once } from 'node:events';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { json } from './library.ts';
import { openSite, type Site } from './sites.ts';

/** A site with many pages. A test can close each page, and the site records each call. */
export interface SiteWithPages extends Site {
    /** The statuses of pages that do not answer 200. */
    closed: Map<string, number>;
    /** Pages with answers that differ from their schema. */
    changed: Set<string>;
    /** Calls in their order. */
    calls: { page: string; method: string; at: number }[];
    /** Resolves when this many calls wait at the page `held`. */
    waiting(count: number): Promise<void>;
    /** Answers all of them. */
    letGo(): void;
}

export const SITE = 'shop.test';
/** `fair` is another site of the same registrable domain. The third site has another domain. */
export const SIBLING = `fair.${SITE}`;
export const OTHER_DOMAIN = 'other.test';
/** Domains that tests do not name. Each is published once, so an earlier run of the same domain never delays a new one. */
export const LATER_DOMAINS: readonly string[] = Array.from({ length: 9 }, (_, index) => `other-${index + 1}.test`);
export const SITE_HOSTS: ReadonlyMap<string, readonly string[]> = new Map(
    [SITE, SIBLING, OTHER_DOMAIN, ...LATER_DOMAINS].map((name): [string, string[]] => [name, ['127.0.0.1']]),
);

export async function openSiteWithPages(): Promise<SiteWithPages> {
    const closed = new Map<string, number>();
    const changed = new Set<string>();
    const calls: SiteWithPages['calls'] = [];
    const held = new Set<() => void>();
    const events = new EventEmitter();
    const site = await openSite((request, response) => {
        const name = /^\/([a-z_0-9]+)/.exec(request.url ?? '')?.[1] ?? '';
        calls.push({ page: name, method: request.method ?? '', at: performance.now() });
        const answer = () => {
            const status = closed.get(name) ?? 200;
            if (status !== 200) json(response, status, { error: 'closed' });
            else json(response, 200, { goods: changed.has(name) ? 'none' : ['apples', 'pears'] });
        };
        if (name !== 'held') return answer();
        held.add(answer);
        response.on('close', () => held.delete(answer));
        events.emit('held');
    });
    return Object.assign(site, {
        closed,
        changed,
        calls,
        async waiting(count: number) {
            while (held.size < count) await once(events, 'held');
        },
        letGo() {
            for (const answer of held) answer();
        },
    });
}

/** A read of one page with two examples. */
export function page({ port }: Pick<Site, 'port'>, site: string, name: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint {
    return {
        name,
        method: 'GET',
        url: `http://${site}:${port}/${name}`,
        params: [{ name: 'kind', source: 'query', required: true, schema: { type: 'string' } }],
        response: { schema: { type: 'object', required: ['goods'], properties: { goods: { type: 'array' } } } },
        examples: [{ params: { kind: 'first' } }, { params: { kind: 'second' } }],
        ...more,
    };
}

export function sitePackage(site: string, endpoints: PackageEndpoint[], more: Partial<PackageDocument> = {}): PackageDocument {
    return { format: 'routebook/1', site, title: 'Shop with pages', intent_category: 'commerce/product-search', endpoints, ...more };
}
