import type { PackageEndpoint } from '../../../shared/domain/types.ts';
import { anEndpoint } from '../../support/schemas.ts';
import { openSite, type Site } from '../../support/sites.ts';
import type { Bomb } from '../packages.ts';

/** A site that responds with the bodies of hostile packages. */
export interface BombSite extends Site {
    /** Adds these endpoints with their bodies and examples, and removes the previous ones. */
    load(host: string, bombs: Readonly<Record<string, Bomb>>): PackageEndpoint[];
}

/** Responds with `{"ok":true}` if no bomb is loaded. */
export async function openBombSite(): Promise<BombSite> {
    const served = new Map<string, Bomb>();
    const site = await openSite((request, response) => {
        const { contentType, body } = served.get(request.url ?? '') ?? { contentType: 'application/json', body: '{"ok":true}' };
        response.writeHead(200, { 'content-type': contentType }).end(body);
    });
    return {
        ...site,
        load(host, bombs) {
            served.clear();
            return Object.entries(bombs).map(([name, bomb]) => {
                served.set(`/${name}`, bomb);
                const { response, pagination } = bomb;
                return anEndpoint(host, {
                    name,
                    params: [],
                    url: `http://${host}:${site.port}/${name}`,
                    response,
                    ...(pagination === undefined ? {} : { pagination }),
                    examples: [{ params: {} }],
                } as Partial<PackageEndpoint>);
            });
        },
    };
}

const MIB = 1024 * 1024;
/** The memory that a call may add to a worker: one reading process at its limit, the start of the others of its pool, and the response. */
export const GROWN_BYTES = (128 + 4 * 110) * MIB;

/** Factors of the numbers of a row. */
export const SCALES = { half: 0.5, whole: 1, double: 2 };

export type Scale = keyof typeof SCALES;

/** Results for each of these scales, in order. */
export function scaled<T>(at: (times: number) => T, scales: readonly Scale[]): Record<string, T> {
    return Object.fromEntries(scales.map((scale) => [scale, at(SCALES[scale])]));
}

/**
 * Responses with this many small values, nested so that indentation is most of the output. Half of them, and twice as many, which may be
 * too many.
 */
export function millionsOfValues(scales: readonly Scale[], most: number): Record<string, Bomb> {
    const values = (count: number) => `{"values":${'['.repeat(90)}${'1,'.repeat(count - 1)}1${']'.repeat(90)}}`;
    return scaled((times) => ({ response: {}, contentType: 'application/json', body: values(most * times) }), scales);
}

/** The error code of `millionsOfValues` at a scale. */
export const codeOfMillions = (scale: string) => (scale === 'double' ? 'UPSTREAM_TOO_LARGE' : undefined);
