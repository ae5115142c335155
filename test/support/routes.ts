import type { AnyContract } from '../../shared/contracts/contract.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import type { Answer, Person } from './people.ts';
import { aPackage } from './schemas.ts';

export const INTENT = 'find one product together with its price';

/** A request of every route that is right in shape, made from the table of contracts; `site` and `body` as the test wants them. */
export interface RouteCall {
    contract: AnyContract;
    method: AnyContract['method'];
    path: string;
    body: object | undefined;
}

/** One call for every contract; a route that this does not know how to call fails, so that no new one is forgotten. */
export function everyRoute(site = 'shop.test'): RouteCall[] {
    const bodies: Readonly<Record<string, object>> = {
        postFetch: { site, endpoint: 'product', params: { id: 1 } },
        postSchema: aPackage(site),
    };
    return CONTRACTS.map((contract) => {
        const path = contract.path.replace(/\{(domain|site)\}/g, site);
        if (path.includes('{')) throw new Error(`test/support/routes.ts has no value for ${contract.path}`);
        const body = bodies[contract.name];
        if ((body !== undefined) !== (contract.body !== undefined))
            throw new Error(`test/support/routes.ts has no body for ${contract.name}`);
        return {
            contract,
            method: contract.method,
            path: contract.counted && body === undefined ? `${path}?intent=${encodeURIComponent(INTENT)}` : path,
            body,
        };
    });
}

/** The call of `route` by `person`. */
export function callRoute(person: Person, { method, path, body }: RouteCall, headers: Record<string, string> = {}): Promise<Answer> {
    return person.call(method, path, { ...(body === undefined ? {} : { body }), headers });
}

/** Code of a refusal, or undefined for a success. */
export function codeOf({ body }: Answer): string | undefined {
    return (body['error'] as { code: string } | undefined)?.code;
}

/** What stands in `details`, as `path code`, in the order of the answer. */
export function detailsOf({ body }: Answer): string[] {
    const { details = [] } = body['error'] as { details?: { path: string; code: string }[] };
    return details.map(({ path, code }) => `${path} ${code}`);
}

/** What stands in `data` of an answer that is expected to be a success. */
export function dataOf<T = Record<string, unknown>>({ status, body }: Answer): T {
    if (body['success'] !== true) throw new Error(`expected a success, got ${status} ${JSON.stringify(body)}`);
    return body['data'] as T;
}
