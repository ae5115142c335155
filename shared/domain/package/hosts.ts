import type { Endpoint, PackageDocument } from '../types.ts';
import { stepsOf } from './endpoint.ts';

/** The names of all hosts that a checked package calls, including those of `prepare` steps, in byte order. */
export function hostsOf({ endpoints }: Pick<PackageDocument, 'endpoints'>): string[] {
    const urls = endpoints.flatMap(({ url, prepare }) => [url, ...stepsOf(prepare).map((step) => step.url)]);
    return [...new Set(urls.map((url) => new URL(url).hostname))].toSorted();
}

/** The hosts that a call of an endpoint contacts first: those of its `prepare` steps, if it has any, and the host of its URL. */
export function hostsOfEndpoint({ url, prepare }: Pick<Endpoint, 'url' | 'prepare'>): string[] {
    const urls = [...(prepare ?? []).map((step) => step.url), url];
    return [...new Set(urls.map((one) => new URL(one).hostname))];
}
