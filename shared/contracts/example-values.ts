import type { JsonObject } from '../domain/types.ts';

/** Examples of the OpenAPI document. Tests validate each against its schema. */

export const SHOP = 'shop.example.com';
export const AT = '2026-11-02T09:30:00.000Z';
export const HASH = '5c1f0d4e8b7a69382716f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0';
export const HEALTH = { success_rate_7d: 0.99, p95_ms: 420, last_success_at: AT };

const GET_PRODUCT: JsonObject = {
    name: 'get_product',
    description: 'One product by its number',
    method: 'GET',
    url: `https://${SHOP}/products/{id}`,
    params: [{ name: 'id', source: 'path', required: true, schema: { type: 'integer' }, example: 7 }],
    examples: [{ params: { id: 7 } }],
};

export const PACKAGE: JsonObject = {
    format: 'routebook/1',
    site: SHOP,
    title: 'Example Shop',
    intent_category: 'commerce/product-search',
    endpoints: [GET_PRODUCT],
};

export const CARD: JsonObject = {
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

export const VERSION: JsonObject = {
    version: 3,
    version_hash: HASH,
    published_at: AT,
    published_by: 'Example Workspace',
    verified: true,
    yanked: false,
    change: 'minor',
    changes: { added: ['get_product'], removed: [], changed: [], hosts_added: [] },
};

export const WEBHOOK: JsonObject = {
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

export const DELIVERY: JsonObject = {
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

export const MAINTAINER: JsonObject = { workspace_id: 'wsp_4fX2mQ9kLr7T', name: 'Example Workspace' };

const CLAIM_VALUE = 'routebook-claim=7Jq2mX9sTd4VbN6yKf8Lw3Pz5Rc1Ga0E';
export const CLAIM: JsonObject = {
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

export const CONNECTION: JsonObject = {
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

export const POLICY: JsonObject = {
    blocked: false,
    writes: false,
    blocked_paths: [{ host: 'example.com', path_prefix: '/account/' }],
    requests_per_minute: 60,
    hours: { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
};

export const JOB: JsonObject = {
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
export const ORDERED: JsonObject = {
    ...JOB,
    status: 'queued',
    started_at: null,
    finished_at: null,
    attempts: 0,
    credits_used: 0,
    result: null,
};
export const DONE: JsonObject = {
    ...JOB,
    params: { id: 7 },
    result: {
        data: { id: 7, title: 'Lamp', price: 24.9 },
        meta: { credits_used: 1, credits_remaining: 999, request_id: 'job_5tR8kW2nYp6Q' },
    },
};

export const BATCH: JsonObject = {
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

export const RUN: JsonObject = {
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
export const MONITOR: JsonObject = {
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
export const MONITOR_CHANGE: JsonObject = {
    change_id: 'chg_8pL3vN7cRd5F',
    at: AT,
    diff: { added: [], removed: [], changed: [{ path: '', before: 24.9, after: 19.9 }] },
    diff_truncated: false,
    before_run: 'run_1aB2cD3eF4gH',
    after_run: 'run_4kT9mQ2xWn6B',
};

export const REPORT: JsonObject = {
    report_id: 'rep_9dK2mT6yZc4P',
    site: SHOP,
    version: 3,
    endpoint: 'search_products',
    kind: 'wrong_result',
    created_at: AT,
};
