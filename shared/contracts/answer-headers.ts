import type { JsonObject } from '../domain/types.ts';

/** Response headers, as `#/components/headers/<key>`. */
const HEADERS: Record<string, { name: string; description: string; schema: JsonObject }> = {
    requestId: {
        name: 'X-Request-Id',
        description: 'Id of this request; name it in support questions',
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
    },
    policy: { name: 'RateLimit-Policy', description: 'One item per window: quota q in w seconds', schema: { type: 'string' } },
    rateLimit: { name: 'RateLimit', description: 'One item per window: r left, for t seconds', schema: { type: 'string' } },
    limit: { name: 'X-RateLimit-Limit', description: 'Quota of the tightest window', schema: { type: 'integer' } },
    remaining: { name: 'X-RateLimit-Remaining', description: 'Calls left in the tightest window', schema: { type: 'integer' } },
    reset: { name: 'X-RateLimit-Reset', description: 'Seconds until the tightest window ends', schema: { type: 'integer' } },
    retryAfter: { name: 'Retry-After', description: 'Seconds to wait before a retry', schema: { type: 'integer', minimum: 1 } },
    allow: { name: 'Allow', description: 'Methods that this path allows', schema: { type: 'string' } },
    authenticate: { name: 'WWW-Authenticate', description: 'Bearer', schema: { type: 'string', enum: ['Bearer'] } },
    replayed: {
        name: 'Idempotent-Replayed',
        description: 'true: this is the stored answer of the first call with this Idempotency-Key, neither charged nor counted',
        schema: { type: 'string', enum: ['true'] },
    },
    location: { name: 'Location', description: 'URL of the new resource', schema: { type: 'string', pattern: '^/v1/' } },
    etag: { name: 'ETag', description: 'Strong validator for If-None-Match', schema: { type: 'string', pattern: '^"[^"]+"$' } },
    cacheControl: { name: 'Cache-Control', description: 'How long the answer may be cached', schema: { type: 'string' } },
};

export const COUNTED_HEADERS: readonly string[] = ['policy', 'rateLimit', 'limit', 'remaining', 'reset'];

/** The header components: each as required, and as `…WhereItApplies`, which may be absent. */
export function headerComponents(paths: JsonObject): JsonObject {
    const text = JSON.stringify(paths);
    const all = Object.entries(HEADERS).flatMap(([key, { description, schema }]): [string, JsonObject][] => [
        [key, { description, required: true, schema }],
        [`${key}WhereItApplies`, { description, required: false, schema }],
    ]);
    return Object.fromEntries(all.filter(([key]) => text.includes(`"#/components/headers/${key}"`)));
}

/** The `headers` of one response: those that are always present, and those that may be present. */
export function headerRefs(always: readonly string[], sometimes: readonly string[] = []): JsonObject {
    const keys = [...always, ...sometimes.map((key) => `${key}WhereItApplies`)];
    return Object.fromEntries(
        keys.map((key) => [HEADERS[key.replace('WhereItApplies', '')]?.name ?? key, { $ref: `#/components/headers/${key}` }]),
    );
}
