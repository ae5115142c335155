import type { Endpoint, PackageDocument } from '../types.ts';

/** The names of all hosts that a checked package calls, those of first steps too, sorted by their bytes. */
export function hostsOf({ endpoints }: Pick<PackageDocument, 'endpoints'>): string[] {
    const urls = endpoints.flatMap(({ url, prepare }) => [url, ...(prepare == null ? [] : [prepare.url])]);
    return [...new Set(urls.map((url) => new URL(url).hostname))].toSorted();
}

/** The hosts that a call of an endpoint begins with: that of its first step, if it has one, and that of its URL. */
export function hostsOfEndpoint({ url, prepare }: Pick<Endpoint, 'url' | 'prepare'>): string[] {
    const urls = prepare === undefined ? [url] : [prepare.url, url];
    return [...new Set(urls.map((one) => new URL(one).hostname))];
}
