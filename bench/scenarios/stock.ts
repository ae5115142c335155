import { migrate } from '../../shared/migrate.ts';
import { type Cleanup, createCleanup } from '../../shared/platform/lifecycle.ts';
import { startDebianPostgres } from '../../test/support/debian-postgres.ts';
import { startPgBouncer } from '../../test/support/pgbouncer.ts';
import { openConnection } from '../load/connection.ts';
import { figuresOf, type LoadPlan } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { fetchBodies } from '../stack/package.ts';
import { freePort } from '../stack/processes.ts';
import { openPostgres, PRELOADED } from '../stack/servers.ts';
import { CLOSING } from '../stack/stack.ts';
import { countFromNow, countStatements, formatStatements, statementsSince } from '../stack/statements.ts';
import { openTopology, type Topology } from '../stack/topology.ts';
import { fetches } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

const WARM_MS = 12_000;
/** A statement that runs at least once per two fetches belongs to fetches; others run in the background. */
const ON_THE_PATH = 2;

interface Servers {
    embedded: Topology;
    debian: Topology;
    pooled: Topology;
    /** URL of Debian's server, for its statistics. */
    debianUrl: string;
}

let servers: Servers | undefined;
let turn = 0;

function opened(): Servers {
    if (servers === undefined) throw new Error('the servers are not open');
    return servers;
}

/** S1, S2: the same calls with the embedded PostgreSQL, with Debian's in its default configuration, and through PgBouncer, alternating. */
export const STOCK: Round = {
    name: 'stock',
    scenarios: [
        { name: 'stock', run: compare },
        { name: 'stock_sql', run: count },
    ],
    async open(bench) {
        const cleanup = createCleanup(CLOSING);
        try {
            servers = await openServers(bench, cleanup);
            if (!bench.isQuick) for (const topology of topologies()) await callUncounted(bench, topology, { inFlight: 64 }, WARM_MS);
            return () => cleanup.close();
        } catch (error) {
            await cleanup.close();
            throw error;
        }
    },
};

async function openServers({ stack }: Bench, cleanup: Cleanup): Promise<Servers> {
    const keep = <Opened extends { stop(): Promise<void> }>(one: Opened): Opened => {
        cleanup.add('a part of the round', () => one.stop());
        return one;
    };
    const own = keep(await openPostgres('embedded'));
    const debian = await startDebianPostgres({ isDurable: true, settings: [PRELOADED] });
    cleanup.add("Debian's PostgreSQL", () => debian.remove());
    for (const name of ['direct', 'routebook']) {
        await debian.tool('createdb', [name]);
        await migrate(debian.url(name));
    }
    const port = await freePort();
    const pooler = await startPgBouncer(debian, port);
    cleanup.add('PgBouncer', () => pooler.close());
    const embeddedUrl = await own.createDatabase('stock');
    await migrate(embeddedUrl);
    const pooledUrl = debian.url('routebook').replace(`:${debian.port}/`, `:${port}/`);
    const at = (databaseUrl: string, postgresPid: number) => openTopology(stack, { databaseUrl, postgresPid }).then(keep);
    return {
        embedded: await at(embeddedUrl, own.pid),
        debian: await at(debian.url('direct'), debian.pid()),
        pooled: await at(pooledUrl, debian.pid()),
        debianUrl: debian.url('postgres'),
    };
}

function topologies(): Topology[] {
    const { embedded, debian, pooled } = opened();
    return [embedded, debian, pooled];
}

/** Calls with 64 in flight, then one at a time. The three topologies alternate in being first. */
async function compare(bench: Bench): Promise<Figures> {
    const { embedded, debian, pooled } = opened();
    const all: [string, Topology][] = [
        ['embedded', embedded],
        ['debian', debian],
        ['pooled', pooled],
    ];
    const first = turn++ % all.length;
    const inOrder = [...all.slice(first), ...all.slice(0, first)];
    const figures: Figures = {};
    for (const [name, topology] of inOrder) {
        const of = await callUncounted(bench, topology, { inFlight: 64 }, 6000);
        for (const figure of ['per_second', 'cpu_us', 'cpu_postgres_us']) figures[`${name}_64_${figure}`] = of[figure] ?? Number.NaN;
    }
    return { ...figures, ...(await callInTurns(inOrder, bench.isQuick ? 1000 : ALONE_MS)) };
}

/** Total milliseconds of the calls one at a time, for all three topologies. */
const ALONE_MS = 15_000;
const ALONE_WARM_MS = 1500;

/** One call at a time, alternating between topologies, so that drift of the machine affects all of them. */
async function callInTurns(all: readonly [string, Topology][], measuredMs: number): Promise<Figures> {
    const callers = all.map(([name, { base, apiKey }]) => {
        const { hostname, host, port } = new URL(base);
        const [body = ''] = fetchBodies('item');
        const head = ['POST /v1/fetch HTTP/1.1', `host: ${host}`, `authorization: Bearer ${apiKey}`, 'content-type: application/json'];
        const request = Buffer.from(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        return { name, request, connection: openConnection(hostname, Number(port)), times: [] as number[], failed: 0 };
    });
    try {
        const began = performance.now();
        while (performance.now() < began + ALONE_WARM_MS + measuredMs) {
            for (const caller of callers) {
                const at = performance.now();
                const { promise, resolve } = Promise.withResolvers<number>();
                caller.connection.call(caller.request, resolve);
                const status = await promise;
                if (at < began + ALONE_WARM_MS) continue;
                if (status === 200) caller.times.push(performance.now() - at);
                else caller.failed++;
            }
        }
        return Object.fromEntries(
            callers.flatMap(({ name, times, failed }) => {
                const { p50, p90, count } = figuresOf(times, failed, measuredMs / 1000);
                return [
                    [`${name}_1_p50_ms`, p50],
                    [`${name}_1_p90_ms`, p90],
                    [`${name}_1_count`, count],
                    [`${name}_1_failed`, failed],
                ];
            }),
        );
    } finally {
        for (const { connection } of callers) connection.close();
    }
}

/** The statements of one fetch on Debian's server. */
async function count(bench: Bench): Promise<Figures> {
    const { debian, debianUrl } = opened();
    await countStatements(debianUrl);
    const onMeasured = () => countFromNow(debianUrl);
    const { count: calls = 1 } = await call({ ...bench, onMeasured }, debian, { inFlight: 1 }, 3000);
    const statements = await statementsSince(debianUrl);
    if (process.argv.includes('--sql')) process.stdout.write(`${formatStatements(statements, calls)}\n`);
    const onThePath = statements.filter((statement) => statement.calls * ON_THE_PATH >= calls);
    const isTop = onThePath.filter((statement) => statement.isTop);
    return {
        statements: isTop.length,
        calls_per_fetch: isTop.reduce((sum, statement) => sum + statement.calls, 0) / calls,
        ms_per_fetch: isTop.reduce((sum, { totalMs }) => sum + totalMs, 0) / calls,
        compiled: statements.reduce((sum, { compiled }) => sum + compiled, 0),
        slowest_mean_ms: Math.max(...onThePath.map(({ meanMs }) => meanMs)),
    };
}

/** `--sql` counts the statements of the bench's own server, which these topologies do not use. */
function callUncounted({ onMeasured: _counts, ...bench }: Bench, topology: Topology, pace: LoadPlan['pace'], measuredMs: number) {
    return call(bench, topology, pace, measuredMs);
}

function call(bench: Bench, { watched, ...service }: Topology, pace: LoadPlan['pace'], measuredMs: number): Promise<Figures> {
    return fetches(bench, { service, watched, endpoints: ['item'], pace, measuredMs });
}
