import type { Request } from '@hapi/hapi';
import { jsonProblems, PARAM_BOUNDS } from '../../shared/domain/json-bounds.ts';
import { Refusal } from '../../shared/refusals.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The params stand one level down in the body, beside a few fields of ours. */
const BODY_BOUNDS = { ...PARAM_BOUNDS, maxDepth: PARAM_BOUNDS.maxDepth + 1, maxKeys: PARAM_BOUNDS.maxKeys + 32 };

/**
 * The JSON value of a request's body: media type, encoding, syntax and bounds are judged here, before any schema sees it.
 * Deep JSON and odd text pass every validator and break things later.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, VALIDATION_ERROR.
 */
export function readJsonBody(request: Request, contract: { body?: { guard: boolean } }): unknown {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.raw.req.headers;
    if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(type.trim())) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (encoding.toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a content encoding.');
    }
    const value = parse(request.payload);
    if (contract.body?.guard) {
        const details = jsonProblems(value, BODY_BOUNDS);
        if (details.length > 0) throw new Refusal('VALIDATION_ERROR', undefined, { details });
    }
    return value;
}

function parse(payload: unknown): unknown {
    if (!Buffer.isBuffer(payload) || payload.length === 0) throw new Refusal('INVALID_JSON', 'The body is empty; send a JSON object.');
    try {
        return JSON.parse(UTF8.decode(payload));
    } catch (cause) {
        throw new Refusal('INVALID_JSON', undefined, {}, { cause });
    }
}
