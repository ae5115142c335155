import { MAX_WEBHOOKS } from '../../../shared/domain/events/webhook-bounds.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { RefusalCode } from '../../../shared/refusals.ts';
import * as keys from '../../../shared/store/accounts/api-keys.ts';
import { sealText } from '../../../shared/store/monitors/sealed.ts';
import { createClaim } from '../../../shared/store/registry/claims.ts';
import * as sites from '../../../shared/store/registry/sites.ts';
import { API_KEY, CONNECTED, CONSENTED, connectedPackage, consentedPackage } from '../connections.ts';
import { untilIndexed } from '../find.ts';
import { join, type Person } from '../people.ts';
import { dataOf, INTENT, makeOwner } from '../routes.ts';
import { anEndpoint, aPackage } from '../schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, shopPackage } from '../shop.ts';
import { openWorld, type Topology, type World } from '../world.ts';
import { ODD_ENDPOINTS, oddPackage, openOddSite } from './odd-site.ts';
import type { Random } from './random.ts';

const WIDE = { perMinute: 10_000_000, perHour: 10_000_000, perDay: 10_000_000, allowance: 10_000_000, concurrency: 500 };
const FINDERS = 30;
const TASK = 'Read the price of every product\r\nonce a day, and tell what changed.';

/** The world in which generated requests run, and the things in it that they can name. */
export interface GeneratorWorld {
    world: World;
    /** Keys by their property. */
    keys: Record<'good' | 'poor' | 'narrow' | 'revoked' | 'suspended' | 'unknown' | 'mistyped' | 'other', string>;
    /** Keys of accounts that search: each may send 60 searches a minute. */
    finders: string[];
    /** A workspace that is the only maintainer of the site `alone.test`. */
    keeper: string;
    /** The value of a field or parameter that the schema alone does not determine; undefined if it does. */
    known(operation: string, name: string, random: Random): Json | undefined;
    /** Cursors of lists by operation, each with its query. */
    cursors: Record<string, [name: string, value: string][]>;
    /** Monitors with calls that are refused with these codes. */
    brokenMonitors: { code: RefusalCode; monitorId: string }[];
    /** A connection of the workspace `other` to a site that it does not maintain. */
    unlendable: string;
    /** A job that ended. */
    endedJob: string;
    /** A batch that ended. */
    endedBatch: string;
    close(): Promise<void>;
}

/** An Idempotency-Key with stored answers for all routes that accept one. The body is that of the fetch and the job. */
export const USED_KEY = 'used-before';
export const USED_BATCH: JsonObject = { defaults: { site: SHOP, endpoint: 'product' }, items: [{ params: { id: 1 } }] };
export const USED_BODY: JsonObject = { site: SHOP, endpoint: 'product', params: { id: 1 } };

/** Successful calls of the shop. */
const CALLS: readonly JsonObject[] = [
    { endpoint: 'product', params: { id: 7 } },
    { endpoint: 'search', params: { n: 4 } },
    { endpoint: 'page' },
    { endpoint: 'list', params: {} },
    { endpoint: 'text' },
    { endpoint: 'empty' },
    { endpoint: 'order', params: { product: 3, note: 'with care' } },
    { endpoint: 'graphql', params: { q: 'lamp' } },
    { endpoint: 'echo', params: { name: 'a b/ü', tag: ['x', 'y'] } },
    { endpoint: 'all_pages' },
];

export async function openGeneratorWorld(topology?: Topology): Promise<GeneratorWorld> {
    const [shop, odd] = await Promise.all([openShop(), openOddSite()]);
    const oddHosts = [...Object.keys(ODD_ENDPOINTS).map((name) => `${name}.test`), 'elsewhere.test', 'tested.test'];
    const world = await openWorld({
        ...(topology === undefined ? {} : { topology }),
        config: {
            egressHosts: new Map([...SHOP_HOSTS, ...oddHosts.map((name): [string, string[]] => [name, ['127.0.0.1']])]),
            // As high as the limits of the accounts. Otherwise a fast sender would get refusals for its traffic instead of for its request.
            browsedPerSecond: 10_000_000,
            trustProxy: 1,
        },
    });
    const wide = () => join(world, { plan: 'enterprise', overrides: WIDE });
    const [good, other, suspended, poor, narrow] = [
        await wide(),
        await wide(),
        await wide(),
        await join(world, { plan: 'enterprise', overrides: { ...WIDE, allowance: 0 } }),
        await join(world, { plan: 'enterprise', overrides: { ...WIDE, perDay: 1 } }),
    ];
    const { db } = world.app;
    const revoked = await keys.createKey(db, { workspaceId: good.workspaceId, userId: good.userId, name: 'revoked' });
    await keys.revokeKey(db, revoked.keyId);
    await db.raw('update users set suspended_at = app_now() where id = ?', [suspended.userId]);
    const finders: Person[] = [];
    while (finders.length < FINDERS) finders.push(await join(world));
    const hash = await publishAll(good, shop.port, odd.port);
    await sites.blockDomain(db, 'blocked.test', 'its owner asked');
    const usedKey = { 'idempotency-key': USED_KEY };
    const asked = { domain: 'wished.test', task: TASK };
    const { request_id: request } = dataOf<{ request_id: string }>(
        await good.call('POST', '/v1/schema-requests', { body: asked, headers: usedKey }),
    );
    await good.call('POST', '/v1/fetch', { body: USED_BODY, headers: usedKey });
    await narrow.call('GET', `/v1/catalog/${SHOP}?intent=${encodeURIComponent(INTENT)}`);

    await good.call('PUT', `/v1/schemas/${SHOP}/maintainers/${other.workspaceId}`);
    const claims = await keepClaims(world, good);
    openWindows(world);
    const tested = await connectTested(good, shop.port);
    await keepConsents(world, good);
    const unlendable = dataOf<{ connection_id: string }>(await other.call('POST', '/v1/connections', { body: OWN_KEY }));
    const [connection = '', patched = ''] = await keepConnections(world, good);
    const jobs = await makeJobs(good);
    const webhooks = await keepWebhooks(world, good, shop.port);
    const batches = await makeBatches(world, good);
    const monitors = await keepMonitors(world, good);
    const helpers = [suspended.workspaceId, poor.workspaceId, narrow.workspaceId];
    const eventsRead = (await cursorOf(good, '/v1/events'))[0]?.[1] ?? '';
    const values: Record<string, (random: Random) => Json> = {
        site: ({ pick }) => pick([SHOP, ` ${SHOP.toUpperCase()}. `, `www.${SHOP}`]),
        domain: ({ pick }) => pick([SHOP, SHOP.toUpperCase(), `www.${SHOP}`]),
        intent: () => INTENT,
        'X-Service-Intent': () => INTENT,
        category: ({ pick }) => pick(['commerce', 'commerce/product-search', 'weather']),
        intent_category: ({ pick }) => pick(['commerce', 'travel/flights']),
        request_id: () => request,
        workspace_id: ({ pick }) => pick(helpers),
        timeout_ms: ({ int }) => int(60_000, 120_000),
        version: ({ pick }) => pick([1, hash]),
        'getPackage.version': ({ pick }) => pick(['1', '2', hash]),
        'postYank.site': () => 'yanked.test',
        'postYank.version': ({ int }) => String(int(1, 5)),
        'deleteYank.site': () => 'yanked.test',
        'deleteYank.version': ({ int }) => String(int(1, 5)),
        'putMaintainer.site': () => 'kept.test',
        'deleteMaintainer.site': () => 'kept.test',
        'getPolicy.domain': () => 'claimed.test',
        'putPolicy.domain': () => 'claimed.test',
        'putPolicy.requests_per_minute': ({ int }) => int(1, 600),
        'putPolicy.hours': () => ({ from: '00:00', to: '12:00', timezone: 'Europe/Berlin' }),
        'putPolicy.blocked_paths': () => [{ host: 'www.claimed.test', path_prefix: '/account' }],
        'deleteJob.job_id': () => jobs.cancelled,
        job_id: () => jobs.ended,
        monitor_id: () => monitors.kept,
        'postBatch.defaults': () => ({ site: SHOP, endpoint: 'product' }),
        'postBatch.items': () => [{ params: { id: 1 } }],
        'getBatchResults.after': () => batches.read,
        'postBatchPause.batch_id': () => batches.open,
        'postBatchResume.batch_id': () => batches.open,
        'deleteBatch.batch_id': () => batches.cancelled,
        batch_id: () => batches.ended,
        'getJobs.site': () => SHOP,
        'postClaimCheck.domain': () => 'claimed.test',
        'postClaimCheck.claim_id': () => claims.proven,
        'deleteClaim.domain': () => 'claimed.test',
        'deleteClaim.claim_id': () => claims.open,
        'postFetch.connection': () => 'default',
        'postJob.connection': () => 'default',
        'postConnection.site': () => CONNECTED,
        'postConnection.auth_id': () => 'api_key',
        'postConnection.name': ({ words, int }) => words(int(1, 8)),
        'postConnection.secret': ({ int }) => ({ value: `key-${int(0, 1_000_000)}` }),
        'patchConnection.name': ({ words, int }) => words(int(1, 8)),
        'patchConnection.secret': ({ int }) => ({ value: `key-${int(0, 1_000_000)}` }),
        'testConnection.connection_id': () => tested,
        'authorizeConnection.site': () => CONSENTED,
        'authorizeConnection.auth_id': () => 'account',
        'authorizeConnection.scopes': () => ['orders'],
        'authorizeConnection.redirect_url': () => REDIRECT_URL,
        'putOAuthClient.site': () => 'clients.test',
        'deleteOAuthClient.site': () => 'clients.test',
        'patchConnection.connection_id': () => patched,
        connection_id: () => connection,
        'postWebhook.url': ({ int }) => `http://${SHOP}:${shop.port}/hook?number=${int(1, 9)}`,
        'patchWebhook.url': ({ int }) => `http://${SHOP}:${shop.port}/hook?number=${int(1, 9)}`,
        'patchWebhook.enabled': () => true,
        'postWebhook.events': ({ pick }) => pick([['job.*'], ['schema.drift', 'key.revoked']]),
        'patchWebhook.events': ({ pick }) => pick([['monitor.failing'], ['monitor.failing', 'batch.paused']]),
        'postWebhook.description': ({ words, int }) => words(int(1, 8)),
        'patchWebhook.description': ({ pick }) => pick(['Orders', 'What is due']),
        webhook_id: () => webhooks.next().webhookId,
        delivery_id: () => webhooks.current().deliveryId,
        'postReport.endpoint': ({ pick }) => pick(['product', 'search']),
        'postReport.site': () => SHOP,
        'postReport.kind': ({ pick }) => pick(['broken', 'wrong_result', 'other']),
        'postReport.text': ({ words, int }) => words(int(1, 100)),
        'postSchemaRequest.domain': ({ int }) => `wished${int(0, 9)}.test`,
        task: ({ words, int }) => `${TASK} ${words(int(0, 300))}`,
        output_shape: ({ words, int }) => words(int(1, 200)),
        failure_mode: ({ words, int }) => words(int(1, 200)),
        source_url: ({ int }) => `https://${SHOP}/products?page=${int(1, 9)}`,
        requester_contact: () => 'somebody@people.example',
        'getAudit.since': ({ pick }) => pick(['2026-11-02', '2026-11-02T09:30:00Z', '2026-11-02T09:30:00.123Z']),
        'getAudit.actor': () => good.userId,
        'getEvents.types': ({ pick }) => pick(['schema.*', 'key.revoked,credits.low']),
        'getEvents.after': () => eventsRead,
        'getEvents.wait': () => '0',
        'getEndpoints.task': ({ words, int }) => `price of a product ${words(int(0, 20))}`,
        'If-Match': () => '*',
        'If-None-Match': ({ pick }) => pick(['*', '"other"', 'W/"0a"', 'nonsense']),
        'X-Service-Session': ({ pick }) => pick(['ses_unknown', 'ä', '']),
    };
    await untilIndexed(world);
    const cursors = {
        getEndpoints: await cursorOf(good, '/v1/endpoints'),
        getSchemas: await cursorOf(good, '/v1/schemas', [['sort', 'name']]),
        getVersions: await cursorOf(good, `/v1/schemas/${SHOP}/versions`),
        getMaintainers: await cursorOf(good, `/v1/schemas/${SHOP}/maintainers`),
        getAudit: await cursorOf(good, '/v1/audit'),
        getConnections: await cursorOf(good, '/v1/connections'),
        getJobs: await cursorOf(good, '/v1/jobs'),
        getMonitors: await cursorOf(good, '/v1/monitors'),
        getMonitorRuns: await cursorOf(good, `/v1/monitors/${monitors.kept}/runs`),
        getMonitorChanges: await cursorOf(good, `/v1/monitors/${monitors.kept}/changes`),
        getWebhooks: await cursorOf(good, '/v1/webhooks'),
        getBatches: await cursorOf(good, '/v1/batches'),
    };
    return {
        world,
        keys: {
            good: good.apiKey ?? '',
            other: other.apiKey ?? '',
            poor: poor.apiKey ?? '',
            narrow: narrow.apiKey ?? '',
            suspended: suspended.apiKey ?? '',
            revoked: revoked.apiKey,
            unknown: `rb_live_${'0'.repeat(36)}`,
            mistyped: `${good.apiKey?.slice(0, -1)}${good.apiKey?.endsWith('a') ? 'b' : 'a'}`,
        },
        finders: finders.map(({ apiKey }) => apiKey ?? ''),
        keeper: good.workspaceId,
        brokenMonitors: monitors.broken,
        unlendable: unlendable.connection_id,
        endedJob: jobs.ended,
        endedBatch: batches.ended,
        cursors,
        known(operation, name, random) {
            return (values[`${operation}.${name}`] ?? values[name])?.(random);
        },
        async close() {
            try {
                await world.close();
            } finally {
                await Promise.all([shop.close(), odd.close()]);
            }
        },
    };
}

/** Creates a proven claim, and a claim that can be deleted repeatedly. Later claims do not count as open. */
async function keepClaims({ app: { db } }: World, { workspaceId, userId }: Person): Promise<{ proven: string; open: string }> {
    const made = async () => {
        const created = await createClaim(db, { registrable: 'claimed.test', workspaceId, accountId: userId, by: { actor: 'system' } });
        if (!created.ok) throw new Error('the account has too many claims');
        return created.claim.claimId;
    };
    const [proven, open] = [await made(), await made()];
    await db.raw("update claims set status = 'proven', method = 'dns', proven_at = app_now() where id = ?", [proven]);
    await makeOwner(db, 'claimed.test', workspaceId);
    await db.raw(`
        create function keep_claim() returns trigger language plpgsql as $$ begin insert into claims select old.*; return null; end $$;
        create function pass_claim() returns trigger language plpgsql as $$ begin delete from claims where id = new.id; return null; end $$;
        create trigger keep_claim after delete on claims for each row when (old.id = '${open}') execute function keep_claim();
        -- Deferred to the commit, since the new claim is read until then.
        create constraint trigger pass_claim after insert on claims deferrable initially deferred
            for each row when (new.id <> '${open}') execute function pass_claim();
    `);
    return { proven, open };
}

const OWN_KEY = { site: CONNECTED, secret: { value: 'a-key-of-my-own' } };

/**
 * Creates two connections that cannot be deleted. Later connections are deleted at the commit, so that the workspace does not reach its
 * limit.
 */
async function keepConnections({ app: { db } }: World, person: Person): Promise<string[]> {
    const made = async () =>
        dataOf<{ connection_id: string }>(await person.call('POST', '/v1/connections', { body: OWN_KEY })).connection_id;
    const kept = [await made(), await made()];
    const names = kept.map((id) => `'${id}'`).join(', ');
    await db.raw(`
        create function keep_connection() returns trigger language plpgsql as $$ begin insert into connections select old.*; return null; end $$;
        create function pass_connection() returns trigger language plpgsql as
            $$ begin delete from connections where id = new.id; return null; end $$;
        create trigger keep_connection after delete on connections for each row when (old.id in (${names})) execute function keep_connection();
        create constraint trigger pass_connection after insert on connections deferrable initially deferred
            for each row when (new.id not in (${names})) execute function pass_connection();
    `);
    return kept;
}

const REDIRECT_URL = 'https://app.example.com/connected';

/** Creates OAuth clients that cannot be deleted. New consents are deleted at the commit, since a member may have at most twenty. */
async function keepConsents({ app: { db } }: World, person: Person): Promise<void> {
    for (const site of [CONSENTED, 'clients.test'])
        dataOf(await person.call('PUT', `/v1/oauth-clients/${site}`, { body: { client_id: 'routebook' } }));
    await db('redirect_urls').insert({ workspace_id: person.workspaceId, url: REDIRECT_URL });
    await db.raw(`
        create function keep_client() returns trigger language plpgsql as $$ begin insert into oauth_clients select old.*; return null; end $$;
        create function pass_flow() returns trigger language plpgsql as
            $$ begin delete from oauth_flows where state_hash = new.state_hash; return null; end $$;
        create function pass_client() returns trigger language plpgsql as
            $$ begin delete from oauth_clients where site = new.site; return null; end $$;
        create constraint trigger pass_client after insert on oauth_clients deferrable initially deferred
            for each row when (new.site not in ('${CONSENTED}', 'clients.test')) execute function pass_client();
        create trigger keep_client after delete on oauth_clients
            for each row when (old.site in ('${CONSENTED}', 'clients.test')) execute function keep_client();
        create constraint trigger pass_flow after insert on oauth_flows deferrable initially deferred for each row execute function pass_flow();
    `);
}

/** Rate limits apart from those of fetches: far more calls are sent here than an account may send. */
const OWN_WINDOWS = /^(connection-tests|runs:monitor|webhook|(jobs|batches|reads|changes):account):/;

/** Counts no call in these windows. */
function openWindows({ app: { limits } }: World): void {
    const { take } = limits;
    Object.assign(limits, {
        take: (order: Parameters<typeof take>[0]) =>
            OWN_WINDOWS.test(order.identity) ? Promise.resolve({ ok: true, windows: [] }) : take(order),
    });
}

/** Creates a connection to a site that accepts every credential. */
async function connectTested(person: Person, port: number): Promise<string> {
    const site = 'tested.test';
    const auth = [{ ...API_KEY, test: 'mine' }];
    dataOf(await person.publish(connectedPackage(site, { auth, base: `http://${site}:${port}` })));
    const body = { site, secret: { value: 'a-key-of-my-own' } };
    return dataOf<{ connection_id: string }>(await person.call('POST', '/v1/connections?test=false', { body })).connection_id;
}

/**
 * Creates all but one of the webhooks that a workspace may have, and returns them in turn, since each may be tested ten times a minute.
 * They cannot be deleted. Later ones are deleted at the commit.
 */
async function keepWebhooks({ app: { db } }: World, person: Person, port: number) {
    const kept: { webhookId: string; deliveryId: string }[] = [];
    for (let index = 1; index < MAX_WEBHOOKS; index++) {
        const body = { url: `http://${SHOP}:${port}/hook`, events: ['monitor.failing'] };
        const { webhook_id: webhookId } = dataOf<{ webhook_id: string }>(await person.call('POST', '/v1/webhooks', { body }));
        const test = await person.call('POST', `/v1/webhooks/${webhookId}/test`);
        kept.push({ webhookId, deliveryId: dataOf<{ delivery_id: string }>(test).delivery_id });
    }
    const names = kept.map(({ webhookId }) => `'${webhookId}'`).join(', ');
    await db.raw(`
        create function keep_webhook() returns trigger language plpgsql as $$ begin insert into webhooks select old.*; return null; end $$;
        create function pass_webhook() returns trigger language plpgsql as $$ begin delete from webhooks where id = new.id; return null; end $$;
        create trigger keep_webhook after delete on webhooks for each row when (old.id in (${names})) execute function keep_webhook();
        create constraint trigger pass_webhook after insert on webhooks deferrable initially deferred
            for each row when (new.id not in (${names})) execute function pass_webhook();
    `);
    let turn = 0;
    const current = () => kept[turn % kept.length] as (typeof kept)[number];
    return {
        current,
        next() {
            turn += 1;
            return current();
        },
    };
}

/** Refused calls with their code. */
const BROKEN_CALLS: readonly [RefusalCode, JsonObject][] = [
    ['SITE_BLOCKED', { site: 'blocked.test', endpoint: 'product' }],
    ['SITE_NOT_FOUND', { site: 'nowhere.test', endpoint: 'product' }],
    ['ENDPOINT_NOT_FOUND', { site: SHOP, endpoint: 'produkt' }],
    ['VERSION_NOT_FOUND', { site: SHOP, endpoint: 'product', version: 99 }],
    ['ENDPOINT_NOT_HOSTED', { site: SHOP, endpoint: 'not_hosted' }],
    ['INVALID_PARAMS', { site: SHOP, endpoint: 'product' }],
    ['CONNECTION_NOT_FOUND', { site: CONNECTED, endpoint: 'mine', connection: 'con_0000000000000000000000' }],
    ['CONNECTION_REQUIRED', { site: CONNECTED, endpoint: 'mine' }],
];

/**
 * Creates a monitor with two runs and two changes, and monitors for BROKEN_CALLS. They cannot be deleted; later monitors are deleted.
 * Manual runs and calls about jobs have no limit.
 */
async function keepMonitors({ app }: World, person: Person) {
    const body = { site: SHOP, endpoint: 'product', params: { id: 1 }, cron: '0 8 1 1 *' };
    const made = async () => dataOf<{ monitor_id: string }>(await person.call('POST', '/v1/monitors', { body })).monitor_id;
    const kept = await made();
    await made();
    const broken: { code: RefusalCode; monitorId: string }[] = [];
    for (const [code, call] of BROKEN_CALLS) {
        const monitorId = await made();
        const request = await sealText(app.secrets, 'request', JSON.stringify(call));
        await app.db('monitors').where({ monitor_id: monitorId }).update({ request });
        broken.push({ code, monitorId });
    }
    const diff = await sealText(app.secrets, 'diff', '{"added":[],"removed":[],"changed":[]}');
    for (const number of [1, 2]) {
        await app.db('monitor_runs').insert({ run_id: `run_${number}`, monitor_id: kept, base: 1, status: 'succeeded' });
        const runs = { before_run: 'run_1', after_run: 'run_2' };
        await app.db('monitor_changes').insert({ change_id: `chg_${number}`, monitor_id: kept, diff, diff_truncated: false, ...runs });
    }
    // Its deletion has no effect, and its schedule is never due.
    await app.db.raw(`
        create function keep_monitor() returns trigger language plpgsql as $$ begin return null; end $$;
        create function pass_monitor() returns trigger language plpgsql as
            $$ begin delete from monitors where monitor_id = new.monitor_id; return null; end $$;
        create trigger keep_monitor before delete on monitors for each row when (old.monitor_id = '${kept}') execute function keep_monitor();
        create constraint trigger pass_monitor after insert on monitors deferrable initially deferred
            for each row execute function pass_monitor();
    `);
    return { kept, broken };
}

/** Creates a job that ended and one that was cancelled. */
async function makeJobs(person: Person): Promise<{ ended: string; cancelled: string }> {
    const order = async (headers = {}) =>
        dataOf<{ job_id: string }>(await person.call('POST', '/v1/jobs', { body: USED_BODY, headers })).job_id;
    const ended = await order({ 'idempotency-key': USED_KEY });
    await person.call('GET', `/v1/jobs/${ended}?wait=30`);
    for (;;) {
        const cancelled = await order();
        if ((await person.call('DELETE', `/v1/jobs/${cancelled}`)).status === 200) return { ended, cancelled };
    }
}

/** Creates a batch that ended, one that was cancelled, and one that stays open since an operator paused its site. */
async function makeBatches({ app }: World, person: Person): Promise<{ ended: string; read: string; cancelled: string; open: string }> {
    const order = async (body: object, headers = {}) =>
        dataOf<{ batch_id: string }>(await person.call('POST', '/v1/batches', { body, headers })).batch_id;
    const ended = await order(USED_BATCH, { 'idempotency-key': USED_KEY });
    await person.call('GET', `/v1/batches/${ended}?wait=30`);
    const [item] = dataOf<{ cursor: string }[]>(await person.call('GET', `/v1/batches/${ended}/results`));
    await app.db('job_pauses').insert({ site: 'kept.test' });
    const body = { defaults: { site: 'kept.test', endpoint: 'product' }, items: [{ params: { id: 1 } }] };
    const cancelled = await order(body);
    await person.call('DELETE', `/v1/batches/${cancelled}`);
    return { ended, read: item?.cursor ?? '', cancelled, open: await order(body) };
}

/** The body of a successful fetch of the shop. */
export function aCall(random: Random): JsonObject {
    return random.pick(CALLS);
}

/** A valid package, mostly one that was not published before. */
export function somePackage(random: Random): JsonObject {
    const site = `made${random.int(0, 9)}.test`;
    const names = Array.from({ length: random.int(1, 3) }, (_, index) => `endpoint_${random.int(0, 20)}_${index}`);
    const title = random.words(random.int(1, 40));
    return { ...aPackage(site, { title, endpoints: names.map((name) => anEndpoint(site, { name })) }) } as unknown as JsonObject;
}

/** Publishes every site. Returns the hash of the shop's first version. */
async function publishAll(good: Person, shopPort: number, oddPort: number): Promise<string> {
    const { version_hash: hash } = dataOf<{ version_hash: string }>(await good.publish(shopPackage(shopPort)));
    dataOf(await good.publish(shopPackage(shopPort, { title: 'Second edition' })));
    for (const site of ['blocked.test', 'inside.test']) dataOf(await good.publish(shopPackage(shopPort, { site })));
    for (const name of Object.keys(ODD_ENDPOINTS)) dataOf(await good.publish(oddPackage(`${name}.test`, oddPort)));
    dataOf(await good.publish(connectedPackage()));
    dataOf(await good.publish(consentedPackage()));
    for (const site of ['kept.test', 'alone.test', ...Array.from({ length: 10 }, (_, index) => `made${index}.test`)])
        dataOf(await good.publish(aPackage(site)));
    for (const title of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) dataOf(await good.publish(aPackage('yanked.test', { title })));
    return hash;
}

async function cursorOf(person: Person, path: string, query: [string, string][] = []): Promise<[string, string][]> {
    const asked = new URLSearchParams([...query, ['limit', '1']]);
    const { body } = await person.call('GET', `${path}?${asked}`);
    const { pagination } = body['meta'] as { pagination: { next_cursor: string | null } };
    return pagination.next_cursor === null ? [] : [...query, ['cursor', pagination.next_cursor]];
}
