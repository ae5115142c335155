import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { RefusalCode } from '../../../shared/refusals.ts';
import { CONNECTED } from '../connections.ts';
import { SHOP } from '../shop.ts';
import type { Operation } from './document.ts';
import { type GeneratorWorld, USED_BATCH, USED_BODY, USED_KEY } from './generator-world.ts';
import type { Mutation } from './mutations.ts';
import { ODD_ENDPOINTS } from './odd-site.ts';

/** Mutations that only the state of the world makes wrong, not the schema. */
export function stories(operation: Operation, fixture: GeneratorWorld): Mutation[] {
    return STORIES[operation.id]?.(fixture) ?? [];
}

const STORIES: Readonly<Record<string, (fixture: GeneratorWorld) => Mutation[]>> = {
    getEndpoints: () => [
        query('a domain that is none', 'site', 'localhost', 'INVALID_DOMAIN'),
        query('a task of two characters', 'task', 'ab', 'VALIDATION_ERROR'),
    ],
    getCatalog: ({ keys }) => [
        intent('no intent', undefined, 'INTENT_REQUIRED'),
        intent('an intent of white space', '%20%20', 'INTENT_REQUIRED'),
        intent('a short intent', 'prices%20of%20lamps', 'INTENT_TOO_SHORT'),
        intent('an intent of few words', 'lamps%20'.repeat(9), 'INTENT_TOO_FEW_WORDS'),
        site('a blocked site', 'domain', 'blocked.test', 'SITE_BLOCKED'),
        key('a full window', keys.narrow, 'RATE_LIMITED'),
    ],
    getPackage: () => [query('an unknown version', 'version', '99', 'VERSION_NOT_FOUND')],
    postSchema: ({ keys }) => [
        key('the key of another workspace', keys.other, 'NOT_MAINTAINER'),
        field('a blocked site', { site: 'blocked.test', endpoints: [] }, ['SCHEMA_INVALID']),
        {
            name: 'a package of a blocked site',
            codes: ['SITE_BLOCKED'],
            apply: (draft) => ({ ...draft, body: movedTo('blocked.test', draft.body) }),
        },
        {
            name: 'a package of a reserved site',
            codes: ['CLAIM_REQUIRED'],
            apply: (draft) => ({ ...draft, body: movedTo('stripe.com', draft.body) }),
        },
        field('a site that is none', { site: 'localhost' }, ['SCHEMA_INVALID']),
        field('endpoints of another site', { site: 'elsewhere.test' }, ['SCHEMA_INVALID']),
        field('no endpoint', { endpoints: [] }, ['SCHEMA_INVALID']),
        field('an unknown category', { intent_category: 'commerce/nothing' }, ['SCHEMA_INVALID']),
        field('another format', { format: 'routebook/2' }, ['SCHEMA_INVALID']),
        field('a secret', { description: 'use AKIAIOSFODNN7EXAMPLE with it' }, ['SCHEMA_INVALID']),
        field('a title that is a number', { title: 7 }, ['SCHEMA_INVALID']),
        field('a title with NUL', { title: 'a\u0000b' }, ['SCHEMA_INVALID']),
        field('a title with half a surrogate pair', { title: 'a\ud800b' }, ['SCHEMA_INVALID']),
        field('a huge title', { title: 'x'.repeat(100_000) }, ['SCHEMA_INVALID']),
    ],
    postYank: maintained,
    deleteYank: maintained,
    putMaintainer: maintained,
    deleteMaintainer: (fixture) => [
        ...maintained(fixture),
        {
            name: 'the last maintainer',
            codes: ['LAST_MAINTAINER'],
            apply: (draft) => ({ ...draft, places: { site: 'alone.test', workspace_id: fixture.keeper } }),
        },
    ],
    postConnection: () => [
        field('a domain that is none', { site: 'localhost' }, ['INVALID_DOMAIN']),
        field('an unknown site', { site: 'nowhere.test' }, ['SITE_NOT_FOUND']),
        field('a blocked site', { site: 'blocked.test' }, ['SITE_BLOCKED']),
        field('a site that takes no connections', { site: SHOP }, ['VALIDATION_ERROR']),
        field('an unknown way to authenticate', { auth_id: 'token' }, ['VALIDATION_ERROR']),
        field('a secret of another type', { secret: { username: 'a', password: 'b' } }, ['VALIDATION_ERROR']),
        field('a secret that no header can hold', { secret: { value: 'ü' } }, ['VALIDATION_ERROR']),
        field('an empty secret', { secret: {} }, ['VALIDATION_ERROR']),
    ],
    getConnections: () => [query('a domain that is none', 'site', 'localhost', 'INVALID_DOMAIN')],
    getConnection: foreignConnection,
    deleteConnection: foreignConnection,
    testConnection: foreignConnection,
    authorizeConnection: () => [
        field('a domain that is none', { site: 'localhost' }, ['INVALID_DOMAIN']),
        field('an unknown site', { site: 'nowhere.test' }, ['SITE_NOT_FOUND']),
        field('a blocked site', { site: 'blocked.test' }, ['SITE_BLOCKED']),
        field('a site without consent', { site: CONNECTED }, ['VALIDATION_ERROR']),
        field('a scope that is not there', { scopes: ['everything'] }, ['VALIDATION_ERROR']),
        field('a place of nobody', { redirect_url: 'https://elsewhere.example/' }, ['VALIDATION_ERROR']),
    ],
    deleteOAuthClient: () => [site('a site without a client', 'site', 'other.test', 'NOT_FOUND')],
    patchConnection: (fixture) => [
        ...foreignConnection(fixture),
        field('a secret of another type', { secret: { username: 'a', password: 'b' } }, ['VALIDATION_ERROR']),
        field('an empty secret', { secret: {} }, ['VALIDATION_ERROR']),
        field('agreement that is none', { agree: false }, ['VALIDATION_ERROR']),
        {
            name: 'lending for a site that another workspace maintains',
            codes: ['NOT_MAINTAINER'],
            apply: (draft) => ({
                ...draft,
                places: { ...draft.places, connection_id: fixture.unlendable },
                headers: { ...draft.headers, authorization: `Bearer ${fixture.keys.other}` },
                body: { verify_with: true },
            }),
        },
    ],
    postWebhook: () => receivers(),
    patchWebhook: (fixture) => [...receivers(), ...foreignWebhook(fixture)],
    getWebhook: foreignWebhook,
    deleteWebhook: foreignWebhook,
    postWebhookRotate: foreignWebhook,
    postWebhookTest: foreignWebhook,
    getDeliveries: foreignWebhook,
    postRedeliver: foreignWebhook,
    postClaimCheck: foreignClaim,
    deleteClaim: foreignClaim,
    getReports: ({ keys }) => [key('the key of a workspace that does not maintain it', keys.poor, 'NOT_MAINTAINER')],
    postReport: () => [
        field('an endpoint that is not there', { endpoint: 'no_such_endpoint' }, ['ENDPOINT_NOT_FOUND', 'SITE_NOT_FOUND']),
        field('a kind in words', { kind: 'Very broken' }, ['VALIDATION_ERROR']),
        field('a text that is too long', { text: 'x'.repeat(1001) }, ['VALIDATION_ERROR']),
    ],
    postSchemaRequest: () => [
        field('a domain that is none', { domain: 'localhost' }, ['INVALID_DOMAIN']),
        field('a task that is too short', { task: 'too short' }, ['VALIDATION_ERROR']),
        field('a task that is too long', { task: 'x'.repeat(4001) }, ['VALIDATION_ERROR']),
        field('a secret', { task: 'Sign in with AKIAIOSFODNN7EXAMPLE and read the prices of it all' }, ['VALIDATION_ERROR']),
        field('an unknown category', { intent_category: 'commerce/nothing' }, ['VALIDATION_ERROR']),
        field('a contact in two lines', { requester_contact: 'a\nb' }, ['VALIDATION_ERROR']),
        reused({ domain: 'wished.test', task: 'Another text than the one that was sent before.' }),
    ],
    postJob: ({ keys }) => [
        ...callStories(),
        field('a cursor that was never issued', { cursor: 'x' }, ['INVALID_CURSOR']),
        key('an account without credits', keys.poor, 'INSUFFICIENT_CREDITS'),
        reused({ ...USED_BODY, params: { id: 2 } }),
        { ...reused(USED_BODY), name: 'the same once more', codes: ['success'] },
    ],
    postBatch: ({ keys }) => [
        key('an account without credits', keys.poor, 'INSUFFICIENT_CREDITS'),
        field('an unknown site', { items: [{ site: 'nowhere.test', params: { id: 1 } }] }, ['VALIDATION_ERROR']),
        field('a param out of range', { items: [{ params: { id: 0 } }] }, ['VALIDATION_ERROR']),
        field('the same custom_id twice', { items: [1, 2].map((id) => ({ params: { id }, custom_id: 'a' })) }, ['VALIDATION_ERROR']),
        usedBatch('the same once more', USED_BATCH, keys.good, 'success'),
        usedBatch('a used Idempotency-Key', { ...USED_BATCH, name: 'another' }, keys.good, 'IDEMPOTENCY_CONFLICT'),
    ],
    getBatch: foreignBatch,
    getBatchResults: foreignBatch,
    postBatchRetry: foreignBatch,
    postBatchPause: closedBatch,
    postBatchResume: closedBatch,
    deleteBatch: closedBatch,
    postMonitor: () => callStories(),
    getMonitor: foreignMonitor,
    patchMonitor: (fixture) => [...foreignMonitor(fixture), ...brokenMonitors(fixture)],
    deleteMonitor: foreignMonitor,
    postMonitorRun: (fixture) => [...foreignMonitor(fixture), ...brokenMonitors(fixture)],
    getMonitorChanges: foreignMonitor,
    getMonitorRuns: foreignMonitor,
    getJob: foreignJob,
    deleteJobResult: foreignJob,
    deleteJob: (fixture) => [...foreignJob(fixture), site('a job that ended', 'job_id', fixture.endedJob, 'JOB_NOT_CANCELLABLE')],
    getJobs: () => [query('a domain that is none', 'site', 'localhost', 'INVALID_DOMAIN')],
    postFetch: ({ keys }) => [
        ...callStories(),
        field('a cursor that was never issued', { cursor: 'x' }, ['INVALID_CURSOR']),
        key('an account without credits', keys.poor, 'INSUFFICIENT_CREDITS'),
        key('a full window', keys.narrow, 'RATE_LIMITED'),
        reused({ ...USED_BODY, params: { id: 2 } }),
        { ...reused(USED_BODY), name: 'the same once more', codes: ['success'] },
        ...Object.entries(ODD_ENDPOINTS).map(([endpoint, code]) =>
            // Its circuit may be open, or a busy worker may exceed the deadline. Both are documented too.
            field(
                `a site that is ${endpoint}`,
                { site: `${endpoint}.test`, endpoint, params: {}, ...(endpoint === 'silent' ? { timeout_ms: 3000 } : {}) },
                [code, 'SITE_UNAVAILABLE', ...(endpoint === 'silent' ? (['DEADLINE_EXCEEDED'] as const) : [])],
            ),
        ),
        field('an address that may not be reached', { site: 'inside.test', endpoint: 'list', params: {} }, ['EGRESS_DENIED']),
    ],
};

/** A call that needs a connection. */
const MINE: JsonObject = { site: CONNECTED, endpoint: 'mine', params: {} };

function foreignConnection({ keys }: GeneratorWorld): Mutation[] {
    return [
        key("another workspace's key", keys.other, 'CONNECTION_NOT_FOUND'),
        site('a connection that is not there', 'connection_id', 'con_0000000000000000000000', 'CONNECTION_NOT_FOUND'),
    ];
}

function foreignWebhook({ keys }: GeneratorWorld): Mutation[] {
    return [key("another workspace's key", keys.other, 'WEBHOOK_NOT_FOUND')];
}

function receivers(): Mutation[] {
    return [
        field('a blocked receiver', { url: 'https://www.blocked.test/' }, ['SITE_BLOCKED']),
        field('a receiver with a user', { url: 'https://ada@receiver.test/' }, ['VALIDATION_ERROR']),
        field('a receiver with a fragment', { url: 'https://receiver.test/#a' }, ['VALIDATION_ERROR']),
        field('no events', { events: [] }, ['VALIDATION_ERROR']),
        field('an event that is none', { events: ['proposal.opened'] }, ['VALIDATION_ERROR']),
    ];
}

/** Refusals that a fetch and an order of a job share. */
function callStories(): Mutation[] {
    return [
        field('a domain that is none', { site: 'localhost' }, ['INVALID_DOMAIN']),
        field('an unknown site', { site: 'nowhere.test' }, ['SITE_NOT_FOUND']),
        field('a blocked site', { site: 'blocked.test' }, ['SITE_BLOCKED']),
        field('an unknown endpoint', { endpoint: 'produkt' }, ['ENDPOINT_NOT_FOUND']),
        field('an unknown version', { version: 99 }, ['VERSION_NOT_FOUND']),
        field('an endpoint that is not hosted', { endpoint: 'not_hosted', params: {} }, ['ENDPOINT_NOT_HOSTED']),
        field('no params', { params: {} }, ['INVALID_PARAMS']),
        field('an unknown param', { params: { id: 1, more: 2 } }, ['INVALID_PARAMS']),
        field('a param of the wrong type', { params: { id: '1' } }, ['INVALID_PARAMS']),
        field('a param out of range', { params: { id: 0 } }, ['INVALID_PARAMS']),
        field('a param of deep JSON', { params: { id: [[[[[[]]]]]] } }, ['INVALID_PARAMS']),
        field('a connection that is not there', { ...MINE, connection: 'con_0000000000000000000000' }, ['CONNECTION_NOT_FOUND']),
        field('one of two connections', MINE, ['CONNECTION_REQUIRED']),
        field('a connection that nobody asks for', { connection: 'con_0000000000000000000000' }, ['VALIDATION_ERROR']),
    ];
}

function maintained({ keys }: GeneratorWorld): Mutation[] {
    return [key('the key of a workspace that does not maintain it', keys.other, 'NOT_MAINTAINER')];
}

function foreignClaim({ keys }: GeneratorWorld): Mutation[] {
    return [
        key("another workspace's key", keys.other, 'CLAIM_NOT_FOUND'),
        site('a claim that is not there', 'claim_id', 'clm_0000000000000000000000', 'CLAIM_NOT_FOUND'),
        site('a domain that it is not about', 'domain', 'elsewhere.test', 'CLAIM_NOT_FOUND'),
    ];
}

function foreignBatch({ keys }: GeneratorWorld): Mutation[] {
    return [key("another workspace's key", keys.other, 'BATCH_NOT_FOUND')];
}

function closedBatch(fixture: GeneratorWorld): Mutation[] {
    return [...foreignBatch(fixture), site('a batch that ended', 'batch_id', fixture.endedBatch, 'BATCH_NOT_OPEN')];
}

function usedBatch(name: string, body: JsonObject, apiKey: string, code: RefusalCode | 'success'): Mutation {
    return {
        name,
        codes: [code],
        apply: (draft) => ({
            ...draft,
            body,
            query: [],
            headers: { ...draft.headers, authorization: `Bearer ${apiKey}`, 'idempotency-key': USED_KEY },
        }),
    };
}

function foreignMonitor({ keys }: GeneratorWorld): Mutation[] {
    return [key("another workspace's key", keys.other, 'MONITOR_NOT_FOUND')];
}

/** Monitors with calls that are no longer possible. */
function brokenMonitors({ brokenMonitors: broken }: GeneratorWorld): Mutation[] {
    return broken.map(({ code, monitorId }) => site(`a monitor that ends in ${code}`, 'monitor_id', monitorId, code));
}

function foreignJob({ keys }: GeneratorWorld): Mutation[] {
    return [key("another workspace's key", keys.other, 'JOB_NOT_FOUND')];
}

function intent(name: string, value: string | undefined, code: RefusalCode): Mutation {
    return {
        name,
        codes: [code],
        apply: ({ headers: { 'x-service-intent': _, ...headers }, ...draft }) => ({
            ...draft,
            headers,
            query: value === undefined ? [] : [['intent', value]],
        }),
    };
}

function site(name: string, placeholder: string, value: string, code: RefusalCode): Mutation {
    return { name, codes: [code], apply: (draft) => ({ ...draft, places: { ...draft.places, [placeholder]: value } }) };
}

function query(name: string, parameter: string, value: string, code: RefusalCode): Mutation {
    return { name, codes: [code], apply: (draft) => ({ ...draft, query: [[parameter, value]] }) };
}

function key(name: string, value: string, code: RefusalCode): Mutation {
    return { name, codes: [code], apply: (draft) => ({ ...draft, headers: { ...draft.headers, authorization: `Bearer ${value}` } }) };
}

function field(name: string, values: JsonObject, codes: Mutation['codes']): Mutation {
    return { name, codes, apply: (draft) => ({ ...draft, body: { ...(draft.body as JsonObject), ...values } }) };
}

/** Uses a key that was used for another body. This request may also be the first with this key. */
function reused(body: JsonObject): Mutation {
    return {
        name: 'a used Idempotency-Key',
        codes: ['IDEMPOTENCY_CONFLICT'],
        apply: (draft) => ({ ...draft, body, headers: { ...draft.headers, 'idempotency-key': USED_KEY } }),
    };
}

function movedTo(site: string, body: Json | undefined): Json {
    const text = JSON.stringify(body);
    return JSON.parse(text.replaceAll(/made\d\.test/g, site)) as Json;
}
