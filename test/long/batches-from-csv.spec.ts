import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import Papa from 'papaparse';
import { beginSession } from '../../shared/store/accounts/user-sessions.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { visitor } from '../dashboard/support/visitor.ts';
import { openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const SITE = 'stock.test';
const ROWS = 2000;
/** One row in this many is unknown to the site at first. */
const FAILING = 10;
const NAMES = Array.from({ length: ROWS }, (_, at) => `row-${at}`);
const FAILED = NAMES.filter((_, at) => at % FAILING === 0);
const CSV = `Article,custom_id\n${NAMES.map((name, at) => `${at},${name}\n`).join('')}`;

interface Batch {
    status: string;
    counts: Record<string, number>;
    credits: { used: number };
}

interface Item {
    job_id: string;
    custom_id: string;
    status: string;
    credits_used: number;
    result: { data: { id: number } } | null;
}

describe('a CSV file of 2,000 rows, of which a tenth fails while workers are killed,', function () {
    this.timeout(900_000);
    let site: Server;
    let processes: WorldOfProcesses;
    let ada: Person;
    let isMended = false;

    beforeEach(async () => {
        isMended = false;
        site = createServer((request, response) => {
            const id = Number(request.url?.split('/').at(-1));
            const status = isMended || id % FAILING !== 0 ? 200 : 404;
            response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
        }).listen(0, '127.0.0.1');
        await once(site, 'listening');
        processes = await openWorldOfProcesses('postgres', new Map([[SITE, ['127.0.0.1']]]));
        const overrides = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
        ada = await join(processes.world, { plan: 'enterprise', overrides });
        const url = `http://${SITE}:${(site.address() as AddressInfo).port}/stock/{id}`;
        const params = [
            { name: 'id', source: 'path' as const, required: true, description: 'Number.', schema: { type: 'integer', minimum: 0 } },
        ];
        dataOf(await ada.publish(aPackage(SITE, { endpoints: [anEndpoint(SITE, { name: 'stock', url, params })] })));
    });
    afterEach(async () => {
        await processes?.close();
        site?.close();
    });

    const read = async (id: string, wait = 0) => dataOf<Batch>(await ada.call('GET', `/v1/batches/${id}?wait=${wait}`));

    /** Kills two workers while the batch runs, and lets a third one finish it. */
    async function surviveDeaths(id: string): Promise<void> {
        let worker = await processes.startWorker();
        for (const ended of [ROWS / 5, ROWS / 2]) {
            // Read in the database, since so many reads through the API would exceed its rate limit.
            await eventually(
                () => processes.world.app.db('batches').where({ batch_id: id }).first<{ queued: number }>('queued'),
                ({ queued }) => ROWS - queued >= ended,
                300_000,
            );
            worker.signal('SIGKILL');
            worker = await processes.startWorker();
        }
        await untilEnded(id);
    }

    const untilEnded = (id: string) =>
        eventually(
            () => read(id, 30),
            ({ status }) => status !== 'running',
            300_000,
        );

    /** Each row once with its own answer, and every credit accounted for. */
    async function expectExact(id: string, items: readonly Item[], failed: readonly string[]): Promise<void> {
        const { counts, credits, status } = await read(id);
        const price = ROWS - failed.length;
        expect([status, counts['total'], counts['succeeded'], counts['failed']]).to.deep.equal([
            failed.length === 0 ? 'succeeded' : 'finished',
            ROWS,
            price,
            failed.length,
        ]);
        const ends = items.map(({ custom_id: name, status: end, credits_used: used, result }) => [
            name,
            end,
            used,
            result?.data.id ?? null,
        ]);
        const wanted = NAMES.map((name, at) => (failed.includes(name) ? [name, 'failed', 0, null] : [name, 'succeeded', 1, at]));
        expect(ends.toSorted()).to.deep.equal(wanted.toSorted());
        expect(credits.used).to.equal(price);
        const { rows } = await processes.world.app.db.raw('select coalesce(sum(charged), 0)::integer as charged from holds');
        expect(rows[0].charged).to.equal(price);
        expect(await ledger.totalHeld(processes.world.app.db)).to.equal(0);
    }

    it('is counted exactly in the dashboard, and running the failed rows again leaves no failure', async () => {
        const { world } = processes;
        const person = visitor(world);
        const session = { userId: ada.userId, browser: 'Mozilla/5.0', address: '127.0.0.1' };
        person.cookies.set('routebook_session', await beginSession(world.app.db, session));
        const path = '/dashboard/jobs/batches/new';
        const key = /<option value="(key_\w+)"/.exec((await person.get(path)).html)?.[1] ?? '';
        const hidden = (html: string, name: string) =>
            (new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '').replaceAll('&quot;', '"');
        const form = { site: SITE, endpoint: 'stock', key, csv: CSV };
        const unmapped = await person.send(path, { ...form, step: 'check' }, { from: path });
        const mapped = { head: hidden(unmapped.html, 'head'), 'column-0': 'id', 'column-1': 'custom_id' };
        const priced = await person.send(path, { ...form, ...mapped, step: 'check' }, { from: path });
        expect(priced.html).to.include('Run 2,000 calls for up to 2,000 credits');
        const once = { checked: hidden(priced.html, 'checked'), once: hidden(priced.html, 'once') };
        const { to = '' } = await person.send(path, { ...form, ...mapped, ...once, step: 'order' }, { from: path });
        const id = to.split('/').at(-1) ?? '';
        await surviveDeaths(id);
        const results = async () =>
            (await person.get(`${to}/results.ndjson`)).html
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line) as Item);
        await expectExact(id, await results(), FAILED);
        isMended = true;
        expect((await person.send(`${to}/retry`, { key }, { from: to })).to).to.equal(to);
        await untilEnded(id);
        await expectExact(id, await results(), []);
        const table = Papa.parse<Record<keyof Item, string>>((await person.get(`${to}/results.csv`)).html.trim(), { header: true }).data;
        const cells = table.map((row) => ({ ...row, credits_used: Number(row.credits_used), result: JSON.parse(row.result) }));
        await expectExact(id, cells, []);
    });

    it('is counted exactly by the command line, which writes each row once', async () => {
        const shell = openCommandLine({ ROUTEBOOK_URL: processes.world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
        try {
            writeFileSync(joinPath(shell.folder, 'rows.csv'), CSV);
            const call = ['--site', SITE, '--endpoint', 'stock', '--map', 'Article=id'];
            const ordered = await shell.run(['batch', 'run', 'rows.csv', ...call, '--detach', '--json']);
            const id = String(ordered.json['batch_id']);
            const following = shell.run(['batch', 'follow', id, '--out', 'results.ndjson']);
            await surviveDeaths(id);
            expect((await following).stderr).not.to.include('BATCH_PAUSED');
            const itemsOf = (file: string) =>
                readFileSync(joinPath(shell.folder, file), 'utf8')
                    .trim()
                    .split('\n')
                    .map((line) => JSON.parse(line) as Item);
            await expectExact(id, itemsOf('results.ndjson'), FAILED);
            isMended = true;
            expect((await shell.run(['batch', 'retry', id])).stdout).to.include('200 run again');
            await untilEnded(id);
            await shell.run(['batch', 'follow', id, '--out', 'results.ndjson']);
            await expectExact(id, itemsOf('results.ndjson'), []);
        } finally {
            shell.close();
        }
    });
});
