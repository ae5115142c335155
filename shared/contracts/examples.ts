import type { Json, JsonObject } from '../domain/types.ts';

/** What the document shows beside its schemas. Its tests hold each example against the schema that it stands at. */

const SHOP = 'shop.example.com';
const AT = '2026-11-02T09:30:00.000Z';
const HASH = '5c1f0d4e8b7a69382716f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0';
const HEALTH = { success_rate_7d: 0.99, p95_ms: 420, last_success_at: AT };
const PAGE = { pagination: { limit: 20, next_cursor: null, total: 1 } };

const GET_PRODUCT: JsonObject = {
    name: 'get_product',
    description: 'One product by its number',
    method: 'GET',
    url: `https://${SHOP}/products/{id}`,
    params: [{ name: 'id', source: 'path', required: true, schema: { type: 'integer' }, example: 7 }],
    examples: [{ params: { id: 7 } }],
};

const PACKAGE: JsonObject = {
    format: 'routebook/1',
    site: SHOP,
    title: 'Example Shop',
    intent_category: 'commerce/product-search',
    endpoints: [GET_PRODUCT],
};

const CARD: JsonObject = {
    site: SHOP,
    title: 'Example Shop',
    description: '',
    intent_category: 'commerce/product-search',
    verified: true,
    verified_at: AT,
    version: 3,
    version_hash: HASH,
    published_at: AT,
    endpoints: [
        { name: 'get_product', kind: 'api_call', method: 'GET', description: 'One product by its number', hosted: true, credits: 1 },
    ],
    maintainer: 'Example Workspace',
    maintainer_id: 'wsp_4fX2mQ9kLr7T',
    claim: 'owner',
    hosts: [SHOP],
    fetches_7d: 120,
    health: HEALTH,
};

const VERSION: JsonObject = {
    version: 3,
    version_hash: HASH,
    published_at: AT,
    published_by: 'Example Workspace',
    verified: true,
    yanked: false,
    change: 'minor',
    changes: { added: ['get_product'], removed: [], changed: [], hosts_added: [] },
};

const WEBHOOK: JsonObject = {
    webhook_id: 'whk_7gT2nR8xLm5C',
    url: 'https://app.example.com/routebook',
    events: ['job.*', 'credits.low'],
    description: 'Orders',
    enabled: true,
    disabled_reason: null,
    failing_since: null,
    created_at: AT,
    updated_at: AT,
};

const DELIVERY: JsonObject = {
    delivery_id: 'dlv_1bV6cX3zLk9J',
    event_id: 'evt_4bN7mK2jH8gF',
    type: 'job.succeeded',
    status: 'delivered',
    attempts: 1,
    code: 204,
    problem: null,
    answer: null,
    duration_ms: 83,
    created_at: AT,
    attempted_at: AT,
    next_attempt_at: null,
};

const MAINTAINERS: JsonObject = { success: true, data: [{ workspace_id: 'wsp_4fX2mQ9kLr7T', name: 'Example Workspace' }], meta: PAGE };

const LEAVING: JsonObject = {
    success: true,
    data: [
        { workspace_id: 'wsp_4fX2mQ9kLr7T', name: 'Example Workspace' },
        { workspace_id: 'wsp_7Jq2mX9sTd4V', name: 'Former Partner', removal_at: '2026-11-03T09:30:00.000Z' },
    ],
    meta: { pagination: { limit: 20, next_cursor: null, total: 2 } },
};

const CLAIM_VALUE = 'routebook-claim=7Jq2mX9sTd4VbN6yKf8Lw3Pz5Rc1Ga0E';
const CLAIM: JsonObject = {
    claim_id: 'clm_3kV8nB5xQw2T',
    domain: 'example.com',
    status: 'pending',
    reason: null,
    value: CLAIM_VALUE,
    methods: [{ dns: `_routebook.example.com TXT ${CLAIM_VALUE}` }, { url: 'https://example.com/.well-known/routebook.txt' }],
    created_at: AT,
    checked_at: null,
    proven_at: null,
    expires_at: '2026-11-09T09:30:00.000Z',
};

const CONNECTION: JsonObject = {
    connection_id: 'con_2cH7pW9sKd4X',
    site: SHOP,
    auth_id: 'api_key',
    type: 'header',
    name: 'My shop account',
    shared: false,
    verify_with: false,
    owner: 'usr_1aS5dF7gHj3K',
    hosts: [SHOP],
    scopes: [],
    status: 'active',
    hint: '…8f2c',
    created_at: AT,
    last_used_at: null,
    expires_at: null,
};

const POLICY: JsonObject = {
    blocked: false,
    writes: false,
    blocked_paths: [{ host: 'example.com', path_prefix: '/account/' }],
    requests_per_minute: 60,
    hours: { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
};

const JOB: JsonObject = {
    job_id: 'job_5tR8kW2nYp6Q',
    status: 'succeeded',
    site: SHOP,
    endpoint: 'get_product',
    version: 3,
    batch_id: null,
    custom_id: null,
    monitor_id: null,
    metadata: { order: '1207' },
    created_at: AT,
    started_at: AT,
    finished_at: AT,
    expires_at: '2026-11-02T10:30:00.000Z',
    waiting_for: null,
    next_attempt_at: null,
    attempts: 1,
    credits_used: 1,
    result_expired: false,
    error: null,
};
const ORDERED: JsonObject = { ...JOB, status: 'queued', started_at: null, finished_at: null, attempts: 0, credits_used: 0, result: null };
const DONE: JsonObject = {
    ...JOB,
    params: { id: 7 },
    result: {
        data: { id: 7, title: 'Lamp', price: 24.9 },
        meta: { credits_used: 1, credits_remaining: 999, request_id: 'job_5tR8kW2nYp6Q' },
    },
};

const BATCH: JsonObject = {
    batch_id: 'bat_8sV2kQ9wLm3Z',
    name: 'Prices of today',
    status: 'running',
    counts: { total: 2, queued: 1, running: 0, succeeded: 1, failed: 0, cancelled: 0, expired: 0 },
    credits: { used: 1, max: 2 },
    waiting_for: null,
    paused_reason: null,
    created_at: AT,
    finished_at: null,
    expires_at: '2026-11-09T09:30:00.000Z',
    metadata: {},
    eta_seconds: 1,
};

const RUN: JsonObject = {
    run_id: 'run_4kT9mQ2xWn6B',
    status: 'succeeded',
    skipped_reason: null,
    due_at: AT,
    started_at: AT,
    finished_at: AT,
    job_id: 'job_5tR8kW2nYp6Q',
    version: 3,
    credits_used: 1,
    changed: true,
    change_id: 'chg_8pL3vN7cRd5F',
    error: null,
};
const MONITOR: JsonObject = {
    monitor_id: 'mon_6hD4sJ9wKz2M',
    name: 'Lamp prices',
    site: SHOP,
    endpoint: 'get_product',
    params: { id: 7 },
    version: null,
    timeout_ms: null,
    max_results: null,
    max_pages: null,
    max_credits: null,
    connection: null,
    every: '1h',
    cron: null,
    timezone: null,
    watch: 'price',
    identity: null,
    when: 'changed',
    max_credits_per_day: 48,
    metadata: {},
    status: 'active',
    paused_reason: null,
    next_run_at: AT,
    last_run: RUN,
    failures: 0,
    created_at: AT,
};
const MONITOR_CHANGE: JsonObject = {
    change_id: 'chg_8pL3vN7cRd5F',
    at: AT,
    diff: { added: [], removed: [], changed: [{ path: '', before: 24.9, after: 19.9 }] },
    diff_truncated: false,
    before_run: 'run_1aB2cD3eF4gH',
    after_run: 'run_4kT9mQ2xWn6B',
};

/** A body that can be sent, by the name of its contract. */
export const BODY_EXAMPLES: Readonly<Record<string, Json>> = {
    postFetch: { site: 'demo.example', endpoint: 'search_products', params: { q: 'lamp' }, dry_run: true },
    postConnection: { site: SHOP, name: 'My shop account', secret: { value: 'the key that the shop gave you' } },
    patchConnection: { name: 'My shop account', shared: true },
    postBatch: {
        name: 'Prices of today',
        defaults: { site: 'demo.example', endpoint: 'search_products' },
        items: [
            { params: { q: 'lamp' }, custom_id: 'lamp' },
            { params: { q: 'chair' }, custom_id: 'chair' },
        ],
    },
    postBatchResume: { max_credits: 5000 },
    postBatchRetry: { codes: ['UPSTREAM_TIMEOUT'] },
    authorizeConnection: { site: SHOP, scopes: ['orders.read'] },
    putOAuthClient: { client_id: 'routebook', client_secret: 'the secret that the shop gave you' },
    postJob: { site: 'demo.example', endpoint: 'search_products', params: { q: 'lamp' }, metadata: { order: '1207' } },
    postMonitor: { site: 'demo.example', endpoint: 'search_products', params: { q: 'lamp' }, every: '1h', identity: 'id' },
    patchMonitor: { status: 'paused' },
    postSchema: PACKAGE,
    postSchemaRequest: {
        domain: 'timetable.example.com',
        task: 'Read the departures of one station; today a browser has to click through four pages for it.',
        read_or_write: 'read',
        frequency: 'hourly',
    },
    postReport: { endpoint: 'search_products', kind: 'wrong_result', text: 'The price of product 7 is that of product 8.' },
    postYank: { reason: 'broken' },
    postWebhook: { url: 'https://app.example.com/routebook', events: ['job.*', 'credits.low'], description: 'Orders' },
    patchWebhook: { enabled: true },
    postKeyReport: { keys: ['rb_live_0000000000000000000000000000000000000'] },
    putPolicy: POLICY,
};

/** The whole body of a success, by the name of its contract. */
export const ANSWER_EXAMPLES: Readonly<Record<string, Json>> = {
    getEndpoints: {
        success: true,
        data: [
            {
                site: SHOP,
                title: 'Example Shop',
                endpoint: 'get_product',
                kind: 'api_call',
                effect: 'read',
                description: 'One product by its number',
                required: [{ name: 'id', type: 'integer', description: '', example: 7 }],
                optional: [],
                returns: { fields: ['title', 'price'] },
                credits: 1,
                billing_unit: 'request',
                max_results: null,
                verified: true,
                verified_at: AT,
                claim: 'owner',
                health: { success_rate_7d: 0.99, p95_ms: 420 },
                needs_connection: false,
                hosted: true,
                score: 0.82,
                matched: ['endpoint', 'description', 'returns'],
                fetch: { site: SHOP, endpoint: 'get_product', params: { id: 7 } },
            },
        ],
        meta: { pagination: { limit: 10, next_cursor: null, total: 1 }, session_id: 'ses_8Kd0sP3vXw1Z' },
    },
    getCatalog: {
        success: true,
        domain: SHOP,
        session_id: 'ses_8Kd0sP3vXw1Z',
        endpoints: [
            {
                name: 'get_product',
                method: 'GET',
                url: `https://${SHOP}/products/{id}`,
                headers: {},
                kind: 'api_call',
                description: 'One product by its number',
                params: [{ name: 'id', source: 'path', required: true, description: '', schema: { type: 'integer' } }],
                hosted: true,
                effect: 'read',
                auth: 'none',
                returns: { type: 'object', properties: { id: { type: 'integer' }, title: { type: 'string' }, price: { type: 'number' } } },
                billing: { unit: 'request' },
                credits: 1,
                credits_max: 1,
                pagination: null,
                examples: [{ params: { id: 7 } }],
                health: HEALTH,
            },
        ],
        schema: { version: 3, version_hash: HASH, verified: true, verified_at: AT, claim: 'owner', hosts: [SHOP], auth: [] },
    },
    postFetch: {
        success: true,
        data: { id: 7, title: 'Lamp', price: 24.9 },
        meta: {
            credits_used: 1,
            credits_remaining: 999,
            request_id: 'req_2bN6tY8cVz5M',
            site: SHOP,
            endpoint: 'get_product',
            version: 3,
            results: 1,
            truncated: false,
            cached: false,
            duration_ms: 143,
            queue_ms: 2,
            upstream: { status: 200, attempts: 1, duration_ms: 131, bytes: 20480 },
        },
    },
    postSchema: {
        success: true,
        data: {
            site: SHOP,
            version: 3,
            version_hash: HASH,
            created: true,
            change: 'minor',
            changes: { added: ['get_product'], removed: [], changed: [], hosts_added: [] },
            published_at: AT,
            verified: false,
            warnings: [],
            credits_earned: 50,
        },
    },
    postMonitor: { success: true, data: { ...MONITOR, last_run: null } },
    getMonitors: { success: true, data: [MONITOR], meta: PAGE },
    getMonitor: { success: true, data: MONITOR },
    patchMonitor: { success: true, data: { ...MONITOR, status: 'paused', next_run_at: null } },
    deleteMonitor: { success: true, data: { monitor_id: 'mon_6hD4sJ9wKz2M', deleted: true } },
    postMonitorRun: { success: true, data: { ...ORDERED, monitor_id: 'mon_6hD4sJ9wKz2M', params: { id: 7 } } },
    getMonitorChanges: { success: true, data: [MONITOR_CHANGE], meta: PAGE },
    getMonitorRuns: { success: true, data: [RUN], meta: PAGE },
    postJob: { success: true, data: ORDERED },
    getJobs: { success: true, data: [JOB], meta: PAGE },
    getJob: { success: true, data: DONE },
    deleteJob: { success: true, data: { ...ORDERED, status: 'cancelled', finished_at: AT, params: { id: 7 } } },
    deleteJobResult: { success: true, data: { ...DONE, params: null, result: null, result_expired: true } },
    postBatch: { success: true, data: { ...BATCH, warnings: [] } },
    getBatches: { success: true, data: [BATCH], meta: PAGE },
    getBatch: { success: true, data: BATCH },
    getBatchResults: {
        success: true,
        data: [
            {
                ...Object.fromEntries(Object.entries(DONE).filter(([name]) => name !== 'params')),
                ...{ batch_id: 'bat_8sV2kQ9wLm3Z', custom_id: 'lamp', cursor: 'Wzcs' },
            },
        ],
        meta: { pagination: { limit: 20, next_cursor: 'Wzcs', total: 1 } },
    },
    postBatchPause: { success: true, data: { ...BATCH, status: 'paused', paused_reason: 'caller', eta_seconds: null } },
    postBatchResume: { success: true, data: BATCH },
    postBatchRetry: { success: true, data: { ...BATCH, retried: 1 } },
    deleteBatch: { success: true, data: { ...BATCH, status: 'cancelled', finished_at: AT, eta_seconds: null } },
    getSchemas: { success: true, data: [CARD], meta: PAGE },
    getSchema: { success: true, data: CARD },
    getVersions: { success: true, data: [VERSION], meta: PAGE },
    postYank: { success: true, data: { ...VERSION, yanked: true } },
    deleteYank: { success: true, data: VERSION },
    getMaintainers: MAINTAINERS,
    putMaintainer: MAINTAINERS,
    deleteMaintainer: LEAVING,
    postConnection: { success: true, data: CONNECTION },
    getConnections: { success: true, data: [CONNECTION], meta: PAGE },
    getConnection: { success: true, data: CONNECTION },
    patchConnection: { success: true, data: CONNECTION },
    testConnection: { success: true, data: CONNECTION },
    authorizeConnection: {
        success: true,
        data: { authorize_url: 'https://shop.example.com/oauth/authorize?client_id=routebook', expires_at: AT },
    },
    putOAuthClient: {
        success: true,
        data: { site: SHOP, client_id: 'routebook', callback_url: 'https://routebook.example/connections/callback' },
    },
    deleteOAuthClient: { success: true, data: { site: SHOP, deleted: true } },
    deleteConnection: { success: true, data: { connection_id: 'con_2cH7pW9sKd4X', deleted: true } },
    postClaim: { success: true, data: CLAIM },
    getClaims: { success: true, data: [CLAIM], meta: PAGE },
    getPolicy: { success: true, data: POLICY },
    putPolicy: { success: true, data: POLICY },
    postClaimCheck: { success: true, data: { status: 'proven', reason: null } },
    deleteClaim: { success: true, data: { claim_id: 'clm_3kV8nB5xQw2T', deleted: true } },
    getPackage: { success: true, data: { ...PACKAGE, version: 3, version_hash: HASH, published_at: AT } },
    postReport: {
        success: true,
        data: {
            report_id: 'rep_9dK2mT6yZc4P',
            site: SHOP,
            version: 3,
            endpoint: 'search_products',
            kind: 'wrong_result',
            created_at: AT,
        },
    },
    getReports: {
        success: true,
        data: [
            {
                report_id: 'rep_9dK2mT6yZc4P',
                site: SHOP,
                version: 3,
                endpoint: 'search_products',
                kind: 'wrong_result',
                created_at: AT,
                text: 'The price of product 7 is that of product 8.',
            },
        ],
        meta: PAGE,
    },
    postSchemaRequest: {
        success: true,
        data: { request_id: 'srq_6hJ1wE4rUq9B', domain: 'timetable.example.com', status: 'open', demand: 2, created_at: AT },
    },
    getSchemaRequest: {
        success: true,
        data: {
            request_id: 'srq_6hJ1wE4rUq9B',
            domain: 'timetable.example.com',
            task: 'Read the departures of one station; today a browser has to click through four pages for it.',
            read_or_write: 'read',
            auth_shape: null,
            output_shape: null,
            failure_mode: null,
            intent_category: null,
            frequency: 'hourly',
            status: 'fulfilled',
            demand: 0,
            created_at: AT,
            updated_at: AT,
            fulfilled_by: { site: 'timetable.example.com', version: 1 },
            history: [
                { status: 'open', at: AT },
                { status: 'fulfilled', at: AT },
            ],
        },
    },
    getAccount: {
        success: true,
        data: {
            user_id: 'usr_1aS5dF7gHj3K',
            workspace_id: 'wsp_4fX2mQ9kLr7T',
            plan: 'free',
            credits: { balance: 1049, allowance: { limit: 1000, remaining: 999 }, bonus: 50, held: 0, resets_at: AT },
            limits: [{ window: 'minute', limit: 20, remaining: 19, resets_in: 31 }],
            concurrency: { limit: 5, in_flight: 0 },
            key: {
                id: 'key_9zX8cV7bNm6L',
                name: 'first',
                prefix: 'rb_live_3fQ7',
                expires_at: null,
                scopes: {
                    effects: ['read', 'write'],
                    sites: null,
                    endpoints: null,
                    connections: [],
                    routes: ['fetch', 'catalog', 'jobs', 'account'],
                    ip_allow: null,
                },
            },
        },
    },
    getAudit: {
        success: true,
        data: [
            {
                at: AT,
                actor: 'usr_1aS5dF7gHj3K',
                action: 'key.created',
                target: 'key_9zX8cV7bNm6L',
                ip: '203.0.113.7',
                details: { name: 'first' },
            },
        ],
        meta: PAGE,
    },
    getEvents: {
        success: true,
        data: [
            {
                event_id: 'evt_4bN7mK2jH8gF',
                type: 'key.revoked',
                timestamp: AT,
                data: { key_id: 'key_9zX8cV7bNm6L', name: 'first', prefix: 'rb_live_4f9K', reason: 'revoked' },
            },
        ],
        meta: { pagination: { limit: 20, next_cursor: 'eyJwIjoxfQ', total: 1 } },
    },
    postWebhook: { success: true, data: { ...WEBHOOK, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' } },
    getWebhooks: { success: true, data: [WEBHOOK], meta: PAGE },
    getWebhook: { success: true, data: WEBHOOK },
    patchWebhook: { success: true, data: WEBHOOK },
    deleteWebhook: { success: true, data: { webhook_id: 'whk_7gT2nR8xLm5C', deleted: true } },
    postWebhookRotate: { success: true, data: { ...WEBHOOK, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' } },
    postWebhookTest: {
        success: true,
        data: {
            ...DELIVERY,
            type: 'webhook.test',
            status: 'pending',
            attempts: 0,
            code: null,
            answer: null,
            duration_ms: null,
            attempted_at: null,
            next_attempt_at: AT,
        },
    },
    getDeliveries: { success: true, data: [DELIVERY], meta: PAGE },
    postRedeliver: { success: true, data: { ...DELIVERY, status: 'pending', next_attempt_at: AT } },
    postKeyReport: [{ token_hash: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', label: 'false_positive' }],
    getCategories: {
        success: true,
        data: [{ slug: 'weather', name: 'Weather', children: [{ slug: 'current', name: 'Current', path: 'weather/current' }] }],
    },
    getTrending: {
        success: true,
        data: {
            window: '7d',
            sites: [
                {
                    rank: 1,
                    site: SHOP,
                    title: 'Example Shop',
                    intent_category: 'commerce/product-search',
                    verified: true,
                    fetches: 120,
                    lookups: 300,
                    score: 42.5,
                },
            ],
            requested: [{ domain: 'timetable.example.com', requests: 2 }],
        },
    },
    getErrors: {
        success: true,
        data: [{ code: 'NOT_FOUND', status: 404, fault: 'caller', retryable: false, meaning: 'There is nothing at this path.' }],
    },
    getHealth: { success: true, data: { status: 'ok', version: '0.1.0', checks: { database: 'ok', queue: 'ok', workers: 'ok' } } },
};

/** How every refusal looks. */
export const REFUSAL_EXAMPLE: JsonObject = {
    success: false,
    error: {
        code: 'SITE_NOT_FOUND',
        message: 'No schema is published for this site; ask for one with POST /v1/schema-requests.',
        status: 404,
        fault: 'caller',
        retryable: false,
        request_id: 'req_2bN6tY8cVz5M',
        doc_url: 'https://routebook.example/docs/errors#SITE_NOT_FOUND',
    },
    meta: { request_id: 'req_2bN6tY8cVz5M' },
};
