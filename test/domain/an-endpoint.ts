import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { Endpoint, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';

/** An endpoint of shop.example in the form that publishing stores. Tests give only the fields that matter. */
export function anEndpoint(fields: Partial<PackageEndpoint> = {}): Endpoint {
    return readEndpoint({ name: 'products', method: 'GET', url: 'https://shop.example/products', ...fields });
}

export function pathParam(name: string, fields: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'path', required: true, ...fields };
}

export function queryParam(name: string, fields: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'query', required: false, ...fields };
}

export function bodyParam(name: string, fields: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'body', required: false, ...fields };
}
