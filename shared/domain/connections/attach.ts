import { encodeSegment } from '../fetch/build-request.ts';
import { decodeQueryPart } from '../text/percent-decode.ts';
import { splitOnce } from '../text/split-once.ts';
import type { PackageAuth, UpstreamRequest } from '../types.ts';
import type { Secret } from './secret.ts';

/** The replacement for a secret value. */
export const HIDDEN = '•••';

/** The request with the credential inserted. The credential replaces a header or parameter of the same name. */
export function attach(request: UpstreamRequest, entry: PackageAuth, secret: Secret): UpstreamRequest {
    if (entry.type === 'basic') {
        const pair = 'username' in secret ? `${secret.username}:${secret.password}` : '';
        return withValue(request, entry, Buffer.from(pair).toString('base64'));
    }
    const value = 'value' in secret ? secret.value : '';
    return withValue(request, entry, entry.type === 'query' ? encodeSegment(value) : value);
}

/** The same request in the form that people may see. */
export function showAttached(request: UpstreamRequest, entry: PackageAuth): UpstreamRequest {
    return withValue(request, entry, HIDDEN);
}

function withValue(request: UpstreamRequest, { type, name = '', prefix = '' }: PackageAuth, value: string): UpstreamRequest {
    const { headers } = request;
    const withHeader = (header: string, text: string) => ({ ...request, headers: { ...headers, [header]: text } });
    switch (type) {
        case 'header':
            return withHeader(name.toLowerCase(), `${prefix}${value}`);
        case 'bearer':
        case 'oauth2':
            return withHeader('authorization', `Bearer ${value}`);
        case 'basic':
            return withHeader('authorization', `Basic ${value}`);
        case 'cookie': {
            const others = headers['cookie']?.split('; ').filter((pair) => !pair.startsWith(`${name}=`)) ?? [];
            return withHeader('cookie', [...others, `${name}=${value}`].join('; '));
        }
        case 'query':
            return { ...request, url: withPair(request.url, name, value) };
    }
}

function withPair(url: string, name: string, encoded: string): string {
    const [base, query = ''] = splitOnce(url, '?');
    const others = query.split('&').filter((pair) => pair !== '' && nameOf(pair) !== name);
    return `${base}?${[...others, `${encodeSegment(name)}=${encoded}`].join('&')}`;
}

function nameOf(pair: string): string {
    const [name = ''] = pair.split('=', 1);
    return decodeQueryPart(name);
}
