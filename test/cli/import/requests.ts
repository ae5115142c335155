import { bindParams } from '../../../shared/domain/fetch/bind-params.ts';
import { buildRequest } from '../../../shared/domain/fetch/build-request.ts';
import { createParamValidator } from '../../../shared/domain/fetch/validate-params.ts';
import { readEndpoint } from '../../../shared/domain/package/endpoint.ts';
import { checkPackage } from '../../../shared/domain/package/rules.ts';
import type { Json, JsonObject, PackageDocument } from '../../../shared/domain/types.ts';

/** The request to the site when an endpoint of a package is called with these params. */
export function requestFor(
    { endpoints }: PackageDocument,
    name: string,
    params: JsonObject = {},
): { method: string; url: string; headers: Record<string, string>; body: Json; type: string | undefined } {
    const document = endpoints.find((one) => one.name === name);
    if (document === undefined) throw new Error(`no ${name} among ${endpoints.map((one) => one.name).join(', ')}`);
    const endpoint = readEndpoint(document);
    const bound = bindParams(endpoint, params, createParamValidator());
    if (!bound.ok) throw new Error(JSON.stringify(bound.problems));
    const { method, url, bodyShown, headers } = buildRequest(endpoint, bound.values, 'a test');
    return { method, url, headers, body: bodyShown, type: headers['content-type'] };
}

/** All problems that the publishing rules find in a package. */
export function faultsOf(document: PackageDocument): string[] {
    const verdict = checkPackage(document, { isPortAllowed: () => false });
    return verdict.ok ? [] : verdict.problems.map(({ path, message }) => `${path} ${message}`);
}
