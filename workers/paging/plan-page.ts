import { buildRequest } from '../../shared/domain/fetch/build-request.ts';
import { atFirstPage, atPage, type PagePlace } from '../../shared/domain/fetch/pages.ts';
import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import type { Endpoint, UpstreamRequest, Values } from '../../shared/domain/types.ts';

/** The request of one page. A URL from the site replaces the whole URL; method, headers and body stay the endpoint's. */
export function planPage(endpoint: Endpoint, values: Values, userAgent: string, form?: PreparedForm, place?: PagePlace): UpstreamRequest {
    const at = place !== undefined && 'value' in place ? atPage(endpoint, values, place.value) : atFirstPage(endpoint, values);
    const request = buildRequest(at.endpoint, at.values, userAgent, form);
    return place !== undefined && 'url' in place ? { ...request, url: place.url } : request;
}
