import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { countRows } from '../../shared/platform/db.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import type { Running } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const SITE = 'prices.test';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** From noon of 10 March on, clocks go forward in Berlin and back in Sydney within 30 days, both while it is 2:30. */
const START = Date.UTC(new Date().getUTCFullYear() + 1, 2, 10, 12);
const MONITORS = [
    { name: 'berlin', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    { name: 'sydney', cron: '30 2 * * *', timezone: 'Australia/Sydney' },
    { name: 'daily', every: '1d' },
];
const LATEST = 90_000;

/** What happens on a day; the list below has the days on which something does. */
interface Day {
    /** The items that the site shows from now on. */
    items?: object[];
    /** The status that it answers with from now on. */
    status?: number;
    /** Kills both workers while they call the site, or one of them at once. */
    kill?: 'calling' | 'one';
    /** All workers are dead for so many days more. */
    outage?: number;
}

const [ONE, TWO] = [
    { id: 1, price: 5 },
    { id: 2, price: 7 },
];
const CHEAP = { id: 1, price: 3 };
const STORY: Readonly<Record<number, Day>> = {
    2: { items: [ONE, TWO] },
    3: { outage: 4 },
    9: { items: [TWO, ONE], kill: 'calling' },
    11: { items: [TWO, CHEAP], kill: 'one' },
    13: { status: 404 },
    15: { status: 200 },
    18: { items: [CHEAP], kill: 'calling' },
    22: { items: [CHEAP, TWO] },
    26: { kill: 'one' },
};
const CALLS_THAT_DIED = 2;
const OUTAGE = 4;
const FAILURES = 2;
const RUNS = 30 - OUTAGE;

interface Run {
    status: string;
    due_at: string | null;
    changed: boolean | null;
}

interface Change {
    diff: object;
}

describe('monitors over 30 days, with two workers that are killed and both clock changes,', function () {
    this.timeout(600_000);
    let site: Site;
    let processes: WorldOfProcesses;
    let folder: string;
    let ada: Person;
    const workers: Running[] = [];
    let shown: { items: object[]; status: number } = { items: [ONE], status: 200 };
    let held: ServerResponse[] | undefined;
    const monitors = new Map<string, string>();
    /** The events of all days, with the names of their monitors. They are kept for fewer days. */
    const told = new Map<string, string>();

    const answer = (response: ServerResponse) =>
        void response.writeHead(shown.status, { 'content-type': 'application/json' }).end(JSON.stringify({ items: shown.items }));

    /** Moves the clocks of the database, of the API and of the workers. */
    async function advance(ms: number): Promise<void> {
        const { app, clock } = processes.world;
        await clock.advance({ seconds: ms / 1000 });
        const [file, next] = [joinPath(folder, 'moved'), joinPath(folder, 'next')];
        writeFileSync(next, String(app.clock.offsetMs));
        renameSync(next, file);
    }

    async function kill(count: number): Promise<void> {
        for (const worker of workers.splice(0, count)) await worker.end('SIGKILL');
    }

    async function startWorkers(): Promise<void> {
        while (workers.length < 2) workers.push(await processes.startWorker());
    }

    /** Waits for so many runs of each schedule, after the one with which an interval begins. */
    const untilEnded = (runs: number) =>
        eventually(
            () => countRows(processes.world.app.db('monitor_runs').whereNot({ status: 'running' })),
            (count) => count === 1 + runs * MONITORS.length,
            LATEST,
        );

    /** Lets a day and its outage pass. Two workers are alive at the end. */
    async function live({ kill: deaths, outage = 0, ...seen }: Day): Promise<void> {
        shown = { ...shown, ...seen };
        if (outage > 0) await kill(2);
        if (deaths === 'calling') held = [];
        await advance((1 + outage) * DAY_MS);
        if (deaths === 'one') await kill(1);
        if (deaths === 'calling') {
            const isCalled = (calls = 0) => calls === MONITORS.length;
            await eventually(async () => held?.length, isCalled, LATEST);
            await kill(2);
            held = undefined;
        }
        await startWorkers();
    }

    before(async () => {
        site = await openSite((_request, response) => void (held === undefined ? answer(response) : held.push(response)));
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-time-'));
        const settings = {
            NODE_OPTIONS: `--import=${new URL('../support/moved-time.ts', import.meta.url)}`,
            MOVED_TIME: joinPath(folder, 'moved'),
        };
        processes = await openWorldOfProcesses('postgres', new Map([[SITE, ['127.0.0.1']]]), { settings });
        await advance(START - processes.world.app.clock.now());
        ada = await join(processes.world, { plan: 'enterprise' });
        const params = [{ name: 'list', source: 'path' as const, required: true, description: 'Name.', schema: { type: 'string' } }];
        const endpoints = [anEndpoint(SITE, { name: 'list', url: `http://${SITE}:${site.port}/{list}`, params })];
        dataOf(await ada.publish(aPackage(SITE, { endpoints })));
        await startWorkers();
        for (const { name, ...schedule } of MONITORS) {
            const body = { name, site: SITE, endpoint: 'list', params: { list: name }, identity: 'id', ...schedule };
            monitors.set(name, dataOf<{ monitor_id: string }>(await ada.call('POST', '/v1/monitors', { body })).monitor_id);
        }
        await untilEnded(0);
        // Beyond the start offset of each monitor, which is up to half a minute.
        await advance(60_000);
        let runs = 0;
        for (let day = 1; day <= 30; day += 1 + (STORY[day]?.outage ?? 0)) {
            await live(STORY[day] ?? {});
            runs += 1;
            await untilEnded(runs);
            const events = await processes.world.app.db('events').where({ type: 'monitor.changed' }).select('id', 'data');
            for (const { id, data } of events) told.set(id, JSON.parse(data).name);
        }
    });
    after(async () => {
        await processes?.close();
        await site?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true });
    });

    const listOf = async <Entry>(name: string, list: 'runs' | 'changes') =>
        dataOf<Entry[]>(await ada.call('GET', `/v1/monitors/${monitors.get(name)}/${list}?limit=100`)).toReversed();
    const scheduledRuns = async (name: string) => (await listOf<Run>(name, 'runs')).slice(name === 'daily' ? 1 : 0);

    for (const { name, timezone = 'UTC' } of MONITORS) {
        describe(`of ${name}`, () => {
            it('run once a day at the time of the place, and once after an outage', async () => {
                const dues = (await scheduledRuns(name)).map(({ due_at: due }) => Date.parse(due ?? ''));
                const format = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
                const local = dues.map((due) => format.format(due).split(' '));
                expect(local).to.have.length(RUNS);
                expect(new Set(local.map(([date]) => date)).size).to.equal(RUNS);
                const times = [...new Set(local.map(([, time]) => time))];
                if (name === 'berlin') expect(times, 'in Berlin 3:00 follows 1:59 on one day').to.deep.equal(['02:30', '03:00']);
                if (name === 'sydney') expect(times).to.deep.equal(['02:30']);
                const hours = dues.slice(1).map((due, at) => (due - (dues[at] ?? 0)) / HOUR_MS);
                const changed = { berlin: [23.5, 23.5], sydney: [25], daily: [] }[name] ?? [];
                expect(hours.filter((gap) => gap !== 24)).to.deep.equal([24 * (1 + OUTAGE), ...changed]);
            });

            it('call the site once a run, and once more for each call whose worker died', () => {
                const calls = site.seen.filter(({ path }) => path === `/${name}`).length;
                expect(calls).to.equal(RUNS + CALLS_THAT_DIED + (name === 'daily' ? 1 : 0));
            });

            it('tell what was added, removed and changed, and neither a new order nor a failure', async () => {
                const none = { added: [], removed: [], changed: [] };
                expect((await listOf<Change>(name, 'changes')).map(({ diff }) => diff)).to.deep.equal([
                    { ...none, added: [TWO] },
                    { ...none, changed: [{ path: '/items/1/price', before: 5, after: 3 }] },
                    { ...none, removed: [TWO] },
                    { ...none, added: [TWO] },
                ]);
                const ends = (await scheduledRuns(name)).map(({ status: end }) => end);
                expect(ends.flatMap((end, run) => (end === 'succeeded' ? [] : [`${end} ${run}`]))).to.deep.equal(['failed 8', 'failed 9']);
                expect([...told.values()].filter((monitor) => monitor === name)).to.have.length(4);
            });
        });
    }

    it('cost what their successes cost', async () => {
        const { db } = processes.world.app;
        const { rows } = await db.raw('select coalesce(sum(charged), 0)::integer as charged from holds');
        expect(rows[0].charged).to.equal(1 + (RUNS - FAILURES) * MONITORS.length);
        expect(await ledger.totalHeld(db)).to.equal(0);
        expect(await ledger.checkLedger(db)).to.deep.equal([]);
    });
});
