import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { JsonObject, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';

/** Query params that carry the place of the next page in its address. */
const CARRIES_PLACE = /^\$?(?:skip_?token|continuation(?:_?token)?|next_?(?:token|marker)|page_?token|marker|cursor)$/i;

/**
 * How the pages of an operation are followed, if the document marks it as pageable: the answer has a field with the address of the next
 * page, of which a param carries the place, and a field with the items. Only reads are followed, and only fields that the answer has.
 */
export function pagesOf(
    { 'x-ms-pageable': pageable }: JsonObject,
    params: readonly PackageParam[],
    method: string,
    { type, schema }: NonNullable<PackageEndpoint['response']>,
): Pick<PackageEndpoint, 'pagination' | 'billing'> {
    const carrier = params.find(({ name, source }) => source === 'query' && CARRIES_PLACE.test(name));
    if (!isObject(pageable) || carrier === undefined || method !== 'GET' || type !== 'json') return {};
    const { nextLinkName: next, itemName: results = 'value' } = pageable;
    if (typeof next !== 'string' || typeof results !== 'string') return {};
    const fields = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
    if (!Object.hasOwn(fields, next) || !Object.hasOwn(fields, results) || !/^[A-Za-z_]\w*$/.test(results)) return {};
    return {
        pagination: { style: 'cursor', param: carrier.name, next: /^[A-Za-z_]\w*$/.test(next) ? next : JSON.stringify(next) },
        billing: { unit: 'request', results },
    };
}
