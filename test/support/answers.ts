import { expect } from 'chai';
import Joi from 'joi';
import { type AnyContract, COMMON_REFUSALS } from '../../shared/contracts/contract.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import * as v from '../../shared/contracts/vocabulary.ts';
import { DETAIL_CODES, REFUSALS, type RefusalCode } from '../../shared/refusals.ts';
import type { Answer } from './people.ts';

const LIMIT_HEADERS = ['ratelimit-policy', 'ratelimit', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
/** Refusals that are possible before a route is found. */
const BEFORE_ROUTES: readonly RefusalCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'];

/**
 * Checks an answer of /v1 against its contract: body, envelope, status, code and headers. Every call of a test person passes here, so a
 * deviation fails whichever test meets it first.
 */
export function checkAnswer(method: string, path: string, { status, headers, body }: Answer): void {
    const pathname = path.replace(/[?#].*$/s, '');
    if (!pathname.startsWith('/v1/')) return;
    const where = `${method} ${pathname} → ${status}`;
    const contract = findContract(method, pathname);
    expect(headers.get('x-request-id'), `${where}: X-Request-Id`).to.match(/^[A-Za-z0-9_-]{1,64}$/);
    expect(status, `${where} is a bug`).not.to.equal(500);
    if (method === 'HEAD' || method === 'OPTIONS' || status === 304) return;
    const isLines =
        contract?.answer.lines !== undefined && status === 200 && headers.get('content-type')?.startsWith('application/x-ndjson');
    if (isLines) return;
    expect(headers.get('content-type'), `${where}: Content-Type`).to.equal('application/json; charset=utf-8');
    if (status >= 400) checkRefusal(where, contract, { status, headers, body });
    else checkSuccess(where, contract, { status, headers, body });
    checkLimitHeaders(where, contract, status, headers);
}

/** Checks only the envelope of docs/api.md, "Errors". For answers without a known contract. */
export function checkEnvelope(where: string, { status, headers, body }: Answer): void {
    conforms(where, ENVELOPE, body);
    const { error, meta } = body as { error: { code: RefusalCode; status: number; fault: string; request_id: string }; meta: object };
    const entry = REFUSALS.get(error.code);
    expect(error, where).to.include({ status, fault: entry?.fault });
    expect(entry?.status, `${where}: status of ${error.code}`).to.equal(status);
    const ids = [error.request_id, (meta as { request_id: string }).request_id];
    // A replay repeats the first answer byte for byte, with the request id of the first.
    if (!isReplay(headers)) expect(ids, where).to.deep.equal(Array(2).fill(headers.get('x-request-id')));
    const { retry_after: retryAfter } = error as { retry_after?: number };
    expect(headers.get('retry-after'), `${where}: Retry-After`).to.equal(retryAfter === undefined ? null : String(retryAfter));
    expect(headers.get('www-authenticate'), `${where}: WWW-Authenticate`).to.equal(status === 401 ? 'Bearer' : null);
}

function checkRefusal(where: string, contract: AnyContract | undefined, answer: Answer): void {
    checkEnvelope(where, answer);
    const { code } = answer.body['error'] as { code: RefusalCode };
    const known = contract === undefined ? BEFORE_ROUTES : [...COMMON_REFUSALS, ...contract.refusals];
    expect(known, `${where}: the contract does not mention ${code}`).to.include(code);
    expect(answer.headers.get('cache-control'), where).to.equal('no-store');
}

const schemas = new Map<AnyContract, Joi.Schema>();

/** The schema of an answer, built once. */
function schemaOf(contract: AnyContract): Joi.Schema {
    const schema = schemas.get(contract) ?? contract.answer.schema();
    schemas.set(contract, schema);
    return schema;
}

function checkSuccess(where: string, contract: AnyContract | undefined, { status, headers, body }: Answer): void {
    if (contract === undefined) throw new Error(`${where}: no contract knows this route`);
    const { shape } = contract.answer;
    const schema = schemaOf(contract);
    expect([contract.answer.status, ...(contract.answer.alsoStatus ?? [])], where).to.include(status);
    if (shape === 'whole') conforms(where, schema, body);
    else {
        expect(body['success'], where).to.equal(true);
        expect(Object.keys(body), where).to.deep.equal(shape === 'list' ? ['success', 'data', 'meta'] : ['success', 'data']);
        conforms(where, schema, body['data']);
    }
    const { pagination: _, ...more } = (body['meta'] ?? {}) as { pagination?: object; session_id?: string };
    if (shape === 'list') conforms(where, contract.answer.meta ?? Joi.object({}), more);
    const isKept = contract.cacheSeconds !== undefined && !(contract.personalWithKey && more.session_id !== undefined);
    expect(headers.get('cache-control'), `${where}: Cache-Control`).to.equal(
        isKept ? `public, max-age=${contract.cacheSeconds}` : 'no-store',
    );
    if (isKept) expect(headers.get('etag'), `${where}: ETag`).to.match(/^"[^"]+"$/);
    if (status === 201) expect(headers.get('location'), `${where}: Location`).to.match(/^\/v1\//);
}

/** Checks that the rate-limit headers are on every counted success and every 429 of a counted route, and on no other route or replay. */
function checkLimitHeaders(where: string, contract: AnyContract | undefined, status: number, headers: Headers): void {
    const present = LIMIT_HEADERS.filter((name) => headers.has(name));
    if (contract?.counted !== true || isReplay(headers)) expect(present, `${where} is not counted`).to.deep.equal([]);
    else if (status < 400 || status === 429) expect(present, `${where} is counted`).to.deep.equal(LIMIT_HEADERS);
}

function isReplay(headers: Headers): boolean {
    return headers.get('idempotent-replayed') === 'true';
}

function findContract(method: string, pathname: string): AnyContract | undefined {
    return CONTRACTS.find((contract) => {
        const pattern = contract.path.replace(/\{[^}]+\}/g, '[^/]*');
        return contract.method === method && new RegExp(`^${pattern}$`).test(pathname);
    });
}

function conforms(where: string, schema: Joi.Schema, value: unknown): void {
    const { error } = schema.validate(value, { convert: false, abortEarly: false });
    if (error !== undefined) throw new Error(`${where} is not what the contract says: ${error.message}\n${JSON.stringify(value)}`);
}

const text = () => Joi.string().required();
const ENVELOPE = Joi.object({
    success: Joi.boolean().valid(false).required(),
    data: v.jsonObject(),
    error: Joi.object({
        code: Joi.string()
            .valid(...REFUSALS.keys())
            .required(),
        message: text().max(4096),
        status: Joi.number().integer().required(),
        fault: Joi.string().valid('caller', 'service', 'upstream', 'schema').required(),
        retryable: Joi.boolean().required(),
        retry_after: Joi.number().integer().min(1),
        request_id: v.requestId().required(),
        doc_url: Joi.string()
            .pattern(/^https?:\/\/[^/]+.*\/docs\/errors#[A-Z_]+$/)
            .required(),
        details: Joi.array()
            .min(1)
            .items(
                Joi.object({
                    path: Joi.string().allow('').pattern(/^\//).required(),
                    code: Joi.string()
                        .valid(...DETAIL_CODES, ...REFUSALS.keys())
                        .required(),
                    message: text(),
                }),
            ),
        problems: v.count(),
        upgrade_to: Joi.string(),
        upgrade_url: Joi.string().uri(),
        connect_url: Joi.string().uri(),
        obtain_url: Joi.string().uri(),
        upstream: Joi.object({ status: Joi.number().integer().required(), snippet: Joi.string().allow('').max(512).required() }),
        did_you_mean: Joi.array().min(1).items(Joi.string()),
    })
        .and('upgrade_to', 'upgrade_url')
        .required(),
    meta: Joi.object({ request_id: v.requestId().required(), credits_used: v.count().valid(0), credits_remaining: v.count() })
        .and('credits_used', 'credits_remaining')
        .required(),
});
