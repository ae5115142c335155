import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPackages, readPackages, STARTER_FOLDER } from '../../bin/starter-packages.ts';
import { indexPackage } from '../../shared/domain/find/index-package.ts';
import { migrate } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { shippedPhrases, shippedWordVectors } from '../../shared/platform/phrases.ts';
import { indexNextSite } from '../../shared/store/registry/endpoint-index.ts';
import { createFinder } from '../../shared/store/registry/find-endpoints.ts';
import { type AskForTask, measureServed, measureUnserved } from '../../test/starter/measure-tasks.ts';
import { GOT_US } from '../goals/values.ts';
import { runLoad } from '../load/load.ts';
import type { Figures } from '../results.ts';
import { fillEndpoints, taskMaker } from '../stack/endpoints.ts';
import { type Started, startNode } from '../stack/processes.ts';
import { fillRegistry, numbers } from '../stack/registry.ts';
import { bareGot, figuresOf, times } from './fetches.ts';
import { type OwnApi, openApi, publish } from './registry.ts';
import type { Bench, Round } from './scenario.ts';

const SITES = 100_000;
const PER_SECOND = 200;
/** A different task for each call. */
const TASKS = 20_000;

let opened: { url: string; sites: number; own: OwnApi } | undefined;
let folder = '';
let turns = 0;

/** F1 and F2: labelled tasks with the starter registry; search and publishing among 1,000,000 endpoints of 100,000 sites. */
export const FIND: Round = {
    name: 'find',
    scenarios: [
        { name: 'find_tasks', run: labelledTasks },
        { name: 'find_1m', run: (bench) => find(bench, PER_SECOND) },
        { name: 'find_scaled', run: findScaled },
        { name: 'publish_unindexed', run: (bench) => publishIndexed(bench, false) },
        { name: 'publish_indexed', run: (bench) => publishIndexed(bench, true) },
    ],
    async open(bench) {
        folder = mkdtempSync(join(tmpdir(), 'routebook-bench-tasks-'));
        const url = await bench.stack.postgres.createDatabase('find_1m');
        await migrate(url);
        const made = await fillRegistry(url, bench.isQuick ? SITES / 20 : SITES);
        await fillEndpoints(url, made);
        const own = await openApi(bench, url, { TRUST_PROXY: '1' });
        opened = { url, sites: made.length, own };
        return async () => {
            await own.api.stop();
            rmSync(folder, { recursive: true, force: true });
        };
    },
};

async function find(bench: Bench, perSecond: number): Promise<Figures> {
    const { sites, own } = openedNow();
    const pathsFile = join(folder, 'tasks');
    const draw = numbers(++turns);
    const make = taskMaker(sites);
    writeFileSync(pathsFile, Array.from({ length: TASKS }, () => `/v1/endpoints?task=${encodeURIComponent(make(draw))}`).join('\n'));
    const plan = {
        url: own.base,
        pathsFile,
        headers: {},
        bodies: [],
        fromManyClients: true,
        pace: { perSecond },
        ...times(bench, 10_000),
    };
    const { postgres, redis } = bench.stack;
    return figuresOf(await runLoad(plan, { api: own.api, redis, postgres: { pid: postgres.pid, children: true } }));
}

/** At the rate that costs this machine what PER_SECOND costs one where bare got takes GOT_US. */
async function findScaled(bench: Bench): Promise<Figures> {
    const { cpu_us: got = GOT_US } = await bareGot(bench, 64);
    const perSecond = PER_SECOND * Math.min(1, GOT_US / got);
    return { ...(await find(bench, perSecond)), got_us: got, offered_per_second: perSecond };
}

/** Publishing without the index, or with a worker that indexes each version. */
async function publishIndexed(bench: Bench, isIndexed: boolean): Promise<Figures> {
    const { url, own } = openedNow();
    const db = openDb({ url, poolSize: 1 });
    let worker: Started | undefined;
    try {
        await db.raw('truncate sites_to_index');
        await db.raw(`alter table sites ${isIndexed ? 'enable' : 'disable'} trigger sites_updated_to_index`);
        if (isIndexed) {
            worker = startNode('bin/worker.ts', [], { ...bench.stack.settings.production, DATABASE_URL: url });
            await untilIndexing(db);
        }
        return await publish(bench, own);
    } finally {
        await worker?.stop();
        await db.destroy();
    }
}

/** Resolves when a worker has started and indexed a site. */
async function untilIndexing(db: Db): Promise<void> {
    await db.raw('insert into sites_to_index (site) select site from sites limit 1');
    for (;;) {
        const [row] = await db('sites_to_index').count<{ count: number }[]>();
        if (row?.count === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/** Shares of tasks, 0 to 1; the held-out tasks separately. */
async function labelledTasks({ stack }: Bench): Promise<Figures> {
    const url = await stack.postgres.createDatabase(`find_tasks_${++turns}`);
    await migrate(url);
    const db = openDb({ url });
    try {
        await loadPackages(db, readPackages(STARTER_FOLDER, []));
        const onFault = (site: string, error: unknown) => {
            throw new Error(`${site} could not be indexed`, { cause: error });
        };
        while (await indexNextSite(db, { describe: async (text) => indexPackage(text, shippedPhrases(), shippedWordVectors()), onFault }));
        const rows: { id: number; site: string; name: string }[] = await db('endpoints').select('id', 'site', 'name');
        const names = new Map(rows.map(({ id, site, name }) => [id, `${site}/${name}`]));
        const finder = createFinder((question) => question(db), shippedPhrases, shippedWordVectors);
        const ask: AskForTask = async (task) => (await finder.find(task, ALL)).found.map(({ row }) => names.get(row.id) ?? '');
        const [tuned, heldOut] = [await measureServed(ask, 'tuned'), await measureServed(ask, 'held out')];
        return {
            first: tuned.first,
            first_five: tuned.firstFive,
            held_out_first: heldOut.first,
            held_out_first_five: heldOut.firstFive,
            empty: (await measureUnserved(ask)).empty,
        };
    } finally {
        await db.destroy();
    }
}

const ALL = {
    category: undefined,
    kind: undefined,
    effect: undefined,
    site: undefined,
    isVerifiedOnly: false,
    maxCredits: undefined,
    needsConnection: undefined,
};

function openedNow() {
    if (opened === undefined) throw new Error('the registry of 1,000,000 endpoints is not open');
    return opened;
}
