import type { PackageDocument } from '../types.ts';

/** The names of all hosts that a checked package calls, those of first steps too, sorted by their bytes. */
export function hostsOf({ endpoints }: Pick<PackageDocument, 'endpoints'>): string[] {
    const urls = endpoints.flatMap(({ url, prepare }) => [url, ...(prepare == null ? [] : [prepare.url])]);
    return [...new Set(urls.map((url) => new URL(url).hostname))].toSorted();
}
