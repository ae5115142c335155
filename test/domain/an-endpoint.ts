import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { Endpoint, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';

/** An endpoint of shop.example as publishing would leave it; say only what matters. */
export function anEndpoint(said: Partial<PackageEndpoint> = {}): Endpoint {
    return readEndpoint({ name: 'products', method: 'GET', url: 'https://shop.example/products', ...said });
}

export function pathParam(name: string, said: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'path', required: true, ...said };
}

export function queryParam(name: string, said: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'query', required: false, ...said };
}

export function bodyParam(name: string, said: Partial<PackageParam> = {}): PackageParam {
    return { name, source: 'body', required: false, ...said };
}
