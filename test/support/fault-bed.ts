import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { migrateAll } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type DebianPostgres, startDebianPostgres } from './debian-postgres.ts';
import { eventually } from './eventually.ts';
import { type Entry, send } from './fault-caller.ts';
import { freePort } from './free-port.ts';
import { type Running, startProcess } from './processes.ts';
import { type Relay, startRelay } from './relay.ts';

/**
 * Two APIs and two workers, started as in production. The test can disturb their Redis and PostgreSQL, and the called site records who
 * called it.
 */
export interface FaultBed {
    readonly apis: Running[];
    readonly workers: Running[];
    readonly bases: string[];
    /** The key of the only caller. */
    readonly apiKey: string;
    readonly redis: OwnRedis;
    readonly postgres: DebianPostgres;
    /** The relays between our processes and PostgreSQL, and Redis. */
    readonly databaseRelay: Relay;
    readonly redisRelay: Relay;
    readonly db: Db;
    /** Milliseconds that this machine may add to each promised time. */
    readonly spareMs: number;
    /** Whether the load may be too high for this machine, so that some calls are refused. */
    readonly mayRefuse: boolean;
    /** How often each call reached the site. */
    readonly seen: ReadonlyMap<number, number>;
    /**
     * Sends calls at this rate, to the APIs in turn, until `until` resolves. Resolves when all calls are answered. Every fourth call is a
     * write.
     * @param timeoutsMs the timeouts of four consecutive calls
     */
    load(options: { perSecond: number; until: Promise<unknown>; timeoutsMs?: readonly number[] }): Promise<Entry[]>;
    /** Sends one call to one of the APIs. A quick call is not one of those that the site delays by a second. */
    call(options?: { api?: number; isWrite?: boolean; timeoutMs?: number; isQuick?: boolean }): Promise<Entry>;
    /** Sends a call that moves no credits, to the APIs in turn. `check` ignores it. */
    look(path: string): Promise<Entry>;
    /**
     * Whether an API that is closing its port did not accept the connection. A reset counts too if the call had no effect: then the kernel
     * had accepted the connection, but the process closed its port first.
     */
    wasRefused(entry: Entry): boolean;
    startApi(index: number): Promise<void>;
    startWorker(index: number): Promise<void>;
    /**
     * Waits until the holds have ended, at most 5 s after the last call's deadline. Then compares what callers were told since the last
     * check, the ledger, and the site's own records.
     * @param maySend how often a read may have reached the site
     * @param mayBreak whether a caller may have lost the connection to an API
     * @throws with each broken promise
     */
    check(options?: { maySend?: number; mayBreak?: boolean }): Promise<void>;
    close(): Promise<void>;
}

export const CALL_TIMEOUT_MS = 4000;
/** The longest time after its deadline until a hold of an unfinished call is resolved (goal R1). */
const RESOLVED_MS = 5000;
export const SITE = 'good.test';

interface FaultBedOptions {
    /**
     * For a test that passes on any machine: less load, and it checks what happens to calls and credits, but not when. The long runs check
     * the times.
     */
    isShort?: boolean;
    /** Milliseconds that the site takes for each answer. */
    slowMs?: number;
    /** Ids that the site answers with 404. */
    isUnknown?: (id: number) => boolean;
    /** Settings of APIs and workers that replace those of the bed. */
    settings?: Readonly<Record<string, string>>;
    /** An existing server, removed at the end, and the port of a pooler in front of it. */
    postgres?: { server: DebianPostgres; poolerPort: number };
}

export async function openFaultBed({
    isShort = false,
    slowMs = 20,
    isUnknown = () => false,
    settings: own = {},
    postgres: given,
}: FaultBedOptions = {}): Promise<FaultBed> {
    const seen = new Map<number, number>();
    const site = await openCountingSite(seen, { slowMs, isUnknown });
    const [redis, postgres] = await Promise.all([startRedis(), given?.server ?? startDebianPostgres()]);
    await postgres.tool('createdb', ['routebook']);
    await migrateAll(postgres.url('routebook'));
    const databasePort = given?.poolerPort ?? postgres.port;
    const direct = postgres.url('routebook').replace(`:${postgres.port}/`, `:${databasePort}/`);
    const [databaseRelay, redisRelay] = await Promise.all([startRelay(databasePort), startRelay(redis.port)]);
    const db = openDb({ url: direct, poolSize: 4, acquireTimeoutMs: 20_000 });
    const caller = await accounts.createAccount(db, {
        email: 'load@people.example',
        plan: 'enterprise',
        bonus: 10_000_000,
        overrides: { perMinute: 10_000_000, perHour: 10_000_000, perDay: 10_000_000, concurrency: 5000, allowance: 0 },
    });
    const settings = {
        DATABASE_URL: direct.replace(`:${databasePort}/`, `:${databaseRelay.port}/`),
        REDIS_URL: redis.url.replace(`:${redis.port}`, `:${redisRelay.port}`),
        HOST: '127.0.0.1',
        EGRESS_ALLOW: '127.0.0.0/8',
        EGRESS_HOSTS: `${SITE}=127.0.0.1`,
        SHUTDOWN_GRACE_MS: '6000',
        ...own,
    };
    const ports = [await freePort(), await freePort()];
    const bases = ports.map((port) => `http://127.0.0.1:${port}`);
    const apis: Running[] = [];
    const workers: Running[] = [];
    /** All processes that were started, also those that were killed and replaced. */
    const started: Running[] = [];
    /** Every call of this bed, in the order of answers. The ledger knows all of them. */
    const history: Entry[] = [];
    let checked = 0;
    let id = 0;
    let turn = 0;

    const spareMs = isShort ? SHORT_SPARE_MS : SPARE_MS;
    const bed: FaultBed = {
        spareMs,
        mayRefuse: isShort,
        apis,
        workers,
        bases,
        apiKey: caller.apiKey,
        redis,
        postgres,
        databaseRelay,
        redisRelay,
        db,
        seen,
        wasRefused: ({ code, id: call }) => code === 'ECONNREFUSED' || (code === 'ECONNRESET' && !seen.has(call)),
        async startApi(index) {
            const api = startProcess('api', { ...settings, PORT: String(ports[index]) });
            apis[index] = api;
            started.push(api);
            await eventually(
                () => isReady(bases[index] ?? ''),
                (ready) => ready,
                60_000,
            );
        },
        async startWorker(index) {
            const worker = startProcess('worker', settings);
            workers[index] = worker;
            started.push(worker);
            await worker.said('the worker takes jobs');
        },
        async call({ api, isWrite = false, timeoutMs = CALL_TIMEOUT_MS, isQuick = false } = {}) {
            id += 1;
            if (isQuick && isSlow(id)) id += 1;
            turn = api ?? turn + 1;
            const base = bases[turn % bases.length] ?? '';
            const body = { site: SITE, endpoint: isWrite ? 'write' : 'read', params: { id }, timeout_ms: timeoutMs };
            const entry = await send({ url: `${base}/v1/fetch`, apiKey: caller.apiKey, id, isWrite, timeoutMs, body });
            history.push(entry);
            return entry;
        },
        look(path) {
            turn += 1;
            return send({ url: `${bases[turn % bases.length]}${path}`, apiKey: caller.apiKey, id: 0 });
        },
        async load({ perSecond, until, timeoutsMs = [CALL_TIMEOUT_MS] }) {
            const calls: Promise<Entry>[] = [];
            let isOver = false;
            const over = until.finally(() => {
                isOver = true;
            });
            const began = performance.now();
            const everyMs = (isShort ? SHORT_LOAD : 1) * (1000 / perSecond);
            while (!isOver) {
                const place = Math.floor(calls.length / 4) % timeoutsMs.length;
                calls.push(bed.call({ isWrite: calls.length % 4 === 3, timeoutMs: timeoutsMs[place] ?? CALL_TIMEOUT_MS }));
                // The rate follows the clock, since timers are late on a busy machine.
                await sleep(Math.max(0, began + calls.length * everyMs - performance.now()));
            }
            await over;
            return Promise.all(calls);
        },
        async check({ maySend = 2, mayBreak = false } = {}) {
            const deadlines = history.slice(checked).map(({ sentAt, timeoutMs }) => sentAt + timeoutMs);
            const resolvedBy = Math.max(0, ...deadlines) + RESOLVED_MS + spareMs;
            await eventually(
                () => ledger.totalHeld(db),
                (held) => held === 0,
                Math.max(spareMs, resolvedBy - performance.now()),
            );
            const faults: string[] = [];
            const drift = await ledger.checkLedger(db);
            if (drift.length > 0) faults.push(`ledgers do not sum: ${JSON.stringify(drift)}`);
            const { rows } = await db.raw<{ rows: { charges: number }[] }>(
                "select count(*)::int as charges from holds where state = 'charged'",
            );
            const charges = rows[0]?.charges ?? 0;
            const late = await holdsResolvedLate(db, spareMs);
            if (late.length > 0) faults.push(`holds were resolved too late: ${JSON.stringify(late)}`);
            const successes = history.filter(({ code }) => code === 'success').length;
            const broken = history.filter(({ status }) => status === 0).length;
            // A caller who lost the connection to a dead API may have been charged for an answer that did not arrive.
            if (charges < successes || charges > successes + broken) faults.push(`${charges} charges for ${successes} successes`);
            for (const entry of history.slice(checked)) {
                const times = seen.get(entry.id) ?? 0;
                if (entry.isWrite && times > 1) faults.push(`the write ${entry.id} was sent ${times} times`);
                if (!entry.isWrite && times > maySend) faults.push(`the read ${entry.id} was sent ${times} times`);
                if (entry.code === 'success' && times === 0) faults.push(`${entry.id} succeeded and was never sent`);
                if (entry.answerOf !== undefined && entry.answerOf !== entry.id)
                    faults.push(`${entry.id} got the answer of ${entry.answerOf}`);
                if (entry.status === 500) faults.push(`${entry.id} was answered with 500`);
                if (entry.status === 0 && !mayBreak) faults.push(`${entry.id} got no answer: ${entry.code}`);
                if (entry.status !== 0 && entry.ms > entry.timeoutMs + 250 + spareMs) faults.push(`${entry.id} took ${entry.ms} ms`);
            }
            checked = history.length;
            if (faults.length > 0) throw new Error(faults.slice(0, 12).join('\n'));
        },
        async close() {
            for (const one of [...workers, ...apis]) one.signal('SIGCONT');
            await Promise.all([...workers, ...apis].map((one) => one.end('SIGKILL')));
            const trace = process.env['FAULT_TRACE'];
            // Close everything, even if the database no longer answers.
            if (trace) await writeTrace(trace, { db, history, seen, started }).catch((error: unknown) => console.error(error));
            await db.destroy();
            await Promise.all([databaseRelay.close(), redisRelay.close()]);
            site.server.closeAllConnections();
            site.server.close();
            await redis.remove();
            await postgres.remove();
        },
    };
    try {
        await Promise.all([bed.startApi(0), bed.startApi(1)]);
        await Promise.all([bed.startWorker(0), bed.startWorker(1)]);
        await publish(bases[0] ?? '', caller.apiKey, site.port);
        // Warm up first: compilation and connections at first use are not part of these tests.
        for (const api of [0, 1, 0, 1]) await bed.call({ api });
        return bed;
    } catch (error) {
        await bed.close();
        throw error;
    }
}

/** Writes what happened, to find the cause of a failure. Each bed has a separate folder. */
async function writeTrace(
    folder: string,
    { db, history, seen, started }: Pick<FaultBed, 'db' | 'seen'> & { history: readonly Entry[]; started: readonly Running[] },
): Promise<void> {
    const own = join(folder, new Date().toISOString());
    mkdirSync(own, { recursive: true });
    const { rows: holds } = await db.raw<{ rows: object[] }>('select * from holds order by created_at');
    const clock = { epochMs: performance.timeOrigin };
    writeFileSync(join(own, 'history.json'), JSON.stringify({ clock, history, seen: [...seen], holds }));
    for (const { pid, output } of started) writeFileSync(join(own, `${pid}.log`), output());
}

/** Runs a test on a separate bed, so that other tests do not influence it. */
export const onBed = (hurt: (bed: FaultBed) => Promise<unknown>) => async (): Promise<void> => {
    const bed = await openFaultBed();
    try {
        await hurt(bed);
    } finally {
        await bed.close();
    }
};

/** Delay of a busy machine with two cores: a caller sees an effect later than the process decides it. */
const SPARE_MS = 500;
/** Delay of a machine that runs other work. */
const SHORT_SPARE_MS = 15_000;
/** Factor by which a short test lengthens the time between calls. */
const SHORT_LOAD = 2.5;

/** A hold expires a second after its call's deadline. */
const HOLD_GRACE_MS = 1000;

/** The holds that existed longer after their call's deadline than allowed, with the time. */
async function holdsResolvedLate(db: Db, spareMs: number): Promise<{ operation: string; lateMs: number }[]> {
    const { rows } = await db.raw<{ rows: { operation: string; lateMs: number }[] }>(
        `select operation, (extract(epoch from settled_at - expires_at) * 1000)::int + :grace as "lateMs"
         from holds where settled_at > expires_at + make_interval(secs => :limit)`,
        { grace: HOLD_GRACE_MS, limit: (RESOLVED_MS - HOLD_GRACE_MS + spareMs) / 1000 },
    );
    return rows;
}

/** Some calls take long, so that a process that stops has something to wait for. */
const isSlow = (id: number) => id % 10 === 0;

async function openCountingSite(
    seen: Map<number, number>,
    { slowMs, isUnknown }: Required<Pick<FaultBedOptions, 'slowMs' | 'isUnknown'>>,
): Promise<{ server: Server; port: number }> {
    const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
        const id = Number(incoming.url?.split('/').at(-1));
        seen.set(id, (seen.get(id) ?? 0) + 1);
        setTimeout(
            () => {
                response.writeHead(isUnknown(id) ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
            },
            isSlow(id) ? slowMs + 1000 : slowMs,
        );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: (server.address() as AddressInfo).port };
}

function sitePackage(port: number): PackageDocument {
    const params = [{ name: 'id', source: 'path' as const, required: true, schema: { type: 'integer' } }];
    return {
        format: 'routebook/1',
        site: SITE,
        title: 'Good site',
        intent_category: 'developer/status',
        endpoints: [
            { name: 'read', method: 'GET', url: `http://${SITE}:${port}/read/{id}`, params },
            { name: 'write', method: 'POST', effect: 'write', url: `http://${SITE}:${port}/write/{id}`, params },
        ],
    };
}

async function publish(base: string, apiKey: string, port: number): Promise<void> {
    const answer = await fetch(`${base}/v1/schemas`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(sitePackage(port)),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
}

async function isReady(base: string): Promise<boolean> {
    return fetch(`${base}/readyz`).then(
        ({ ok }) => ok,
        () => false,
    );
}
