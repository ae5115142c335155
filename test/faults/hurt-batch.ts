import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { setDomain } from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultBed, SITE } from '../support/fault-bed.ts';

/** Slots of the site: few enough that a batch lasts longer than the faults. */
const SLOTS = 24;
/** One item in this many is a write. */
const WRITES = 5;
const MAX_MS = 1_800_000;

/** A tenth of the items is unknown to the site. */
export const isUnknown = (id: number): boolean => id % 10 === 3;
const isWrite = (id: number) => id % WRITES === 0;

interface Item {
    job_id: string;
    custom_id: string;
    status: string;
    credits_used: number;
    result: object | null;
    error: { code: string } | null;
}

interface Counts {
    queued: number;
    running: number;
    ends: number;
    finished_at: Date | null;
}

/**
 * J4: a batch during which a worker and an API are killed this many times, and PostgreSQL is restarted and Redis emptied four times each.
 * Every item ends once, successes are charged, no write is sent twice, and the ledger sums.
 */
export async function hurtBatch(bed: FaultBed, { items, kills }: { items: number; kills: number }): Promise<void> {
    await setDomain(bed.db, SITE, { concurrency: SLOTS });
    const chargesBefore = await chargesOf(bed);
    const id = await order(bed, items);
    const read = () =>
        bed
            .db('batches')
            .where({ batch_id: id })
            .first<Counts>('queued', 'running', 'ends', 'finished_at')
            // PostgreSQL may be down.
            .catch(() => undefined);
    const untilEnded = (share: number) => eventually(read, (batch) => batch !== undefined && batch.ends >= items * share, MAX_MS);
    const storeFaults = [
        () => bed.postgres.stop('fast').then(() => bed.postgres.start()),
        () => promisify(execFile)('redis-cli', ['-p', String(bed.redis.port), 'flushall']),
        () => bed.postgres.stop('immediate').then(() => bed.postgres.start()),
        () => promisify(execFile)('redis-cli', ['-p', String(bed.redis.port), 'flushall']),
    ];
    const every = Math.max(1, Math.floor(kills / 8));
    for (let kill = 0; kill < kills; kill++) {
        await untilEnded((0.9 * kill) / kills);
        await Promise.all([
            replace(bed.workers[kill % 2], () => bed.startWorker(kill % 2)),
            replace(bed.apis[kill % 2], () => bed.startApi(kill % 2)),
        ]);
        if (kill % every === every - 1) await storeFaults[Math.floor(kill / every) % storeFaults.length]?.();
    }
    await eventually(read, (batch) => batch !== undefined && batch.finished_at !== null, MAX_MS);
    await expectExact(bed, { id, items, chargesBefore });
}

async function replace(process: FaultBed['apis'][number] | undefined, start: () => Promise<void>): Promise<void> {
    process?.signal('SIGKILL');
    await process?.end('SIGKILL');
    await start();
}

async function order({ bases, apiKey }: FaultBed, items: number): Promise<string> {
    const lines = Array.from({ length: items }, (_, at) => {
        const id = FIRST + at;
        return JSON.stringify({ endpoint: isWrite(id) ? 'write' : 'read', params: { id }, custom_id: `item-${id}` });
    });
    const response = await fetch(`${bases[0]}/v1/batches?site=${SITE}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' },
        body: lines.join('\n'),
    });
    const { data } = (await response.json()) as { data: { batch_id: string } };
    expect(response.status, JSON.stringify(data)).to.equal(202);
    return data.batch_id;
}

/** Ids below are for the calls of the bed itself. */
const FIRST = 1_000_000;

async function chargesOf({ db }: FaultBed): Promise<number> {
    const row = await db('holds').sum<{ charged: string | null }>({ charged: 'charged' }).first();
    return Number(row?.charged ?? 0);
}

async function resultsOf({ bases, apiKey }: FaultBed, id: string): Promise<Item[]> {
    const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson' };
    const response = await fetch(`${bases[1]}/v1/batches/${id}/results`, { headers });
    return (await response.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Item);
}

async function expectExact(
    bed: FaultBed,
    { id, items, chargesBefore }: { id: string; items: number; chargesBefore: number },
): Promise<void> {
    const { db, seen } = bed;
    await eventually(
        () => ledger.totalHeld(db),
        (held) => held === 0,
        60_000,
    );
    const ended = await resultsOf(bed, id);
    expect(ended.length, 'ends').to.equal(items);
    expect(new Set(ended.map(({ custom_id: name }) => name)).size, 'items').to.equal(items);
    const faults: string[] = [];
    for (const item of ended) {
        const number = Number(item.custom_id.slice('item-'.length));
        const times = seen.get(number) ?? 0;
        const isGood = item.status === 'succeeded';
        if (!isGood && item.status !== 'failed') faults.push(`${number} is ${item.status}`);
        if (isGood && (times === 0 || isUnknown(number))) faults.push(`${number} succeeded, sent ${times} times`);
        if (item.credits_used !== (isGood ? 1 : 0) || isGood !== (item.result !== null)) faults.push(`${number} cost ${item.credits_used}`);
        if (isWrite(number) && times > 1) faults.push(`the write ${number} was sent ${times} times`);
        if (!isGood && !isUnknown(number) && !LOSS_CODES.includes(item.error?.code ?? ''))
            faults.push(`${number} failed: ${item.error?.code}`);
    }
    expect(faults.slice(0, 12)).to.deep.equal([]);
    const succeeded = ended.filter(({ status }) => status === 'succeeded').length;
    // The dead workers lost a few; the others ran.
    expect(succeeded, 'successes').to.be.above(items * 0.8);
    expect((await chargesOf(bed)) - chargesBefore, 'charges').to.equal(succeeded);
    expect(await ledger.checkLedger(db)).to.deep.equal([]);
    const batch = await db('batches').where({ batch_id: id }).first();
    expect([batch.credits_held, batch.credits_used, batch.succeeded, batch.failed]).to.deep.equal([
        0,
        succeeded,
        succeeded,
        items - succeeded,
    ]);
    const events = await db('events').where({ about: id }).pluck('type');
    expect(events).to.deep.equal(['batch.finished']);
}

/** Errors of an item whose worker died: a read whose second worker died too, and a write that was marked as sent. */
const LOSS_CODES = ['DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN'];
