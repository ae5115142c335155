import { request as openRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld, type World } from '../support/world.ts';

const QUERY = `?site=${SHOP}&endpoint=product`;

interface Batch {
    batch_id: string;
    name: string | null;
    status: string;
    metadata: object;
    counts: Record<string, number>;
    credits: { max: number };
}

/** The tables that this process inserts into during `work`. */
async function insertsDuring(world: World, work: () => Promise<Answer[]>): Promise<{ answers: Answer[]; inserts: string[] }> {
    const inserts: string[] = [];
    const note = ({ sql }: { sql: string }) => {
        const [, table] = /insert into "?(jobs|batch_drafts)\b/.exec(sql) ?? [];
        if (table !== undefined) inserts.push(table);
    };
    world.app.db.on('query', note);
    try {
        return { answers: await work(), inserts };
    } finally {
        world.app.db.off('query', note);
    }
}

/** Resolves when the socket takes more, or is closed. */
async function writable(socket: Socket): Promise<void> {
    let go: () => void = () => undefined;
    await new Promise<void>((resolve) => {
        go = resolve;
        socket.once('drain', go).once('close', go);
    });
    socket.off('drain', go).off('close', go);
}

describe('a batch that comes as lines', () => {
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let ada: Person;

    before(async () => {
        ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000 } });
        dataOf(await ada.publish(shopPackage(shop.port)));
    });

    const send = (lines: string | readonly object[], query = QUERY, headers: Record<string, string> = {}): Promise<Answer> =>
        ada.call('POST', `/v1/batches${query}`, {
            body: typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n'),
            headers: { 'content-type': 'application/x-ndjson', ...headers },
        });
    const drafts = async () => (await world.app.db('batch_drafts').count<{ all: number }[]>({ all: '*' }))[0]?.all ?? 0;
    const problemsOf = ({ body }: Answer) => (body['error'] as { problems?: number }).problems;
    const stored = async () => {
        const counts = await Promise.all(
            ['jobs', 'batches', 'batch_drafts'].map(async (table) => (await world.app.db(table).count({ all: '*' }))[0]?.['all']),
        );
        return counts.join(' ');
    };
    /** A body that the test sends piece by piece. */
    const begin = (headers: Record<string, string> = {}) => {
        const url = new URL(`${world.base}/v1/batches${QUERY}`);
        const type = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${ada.apiKey}` };
        const sent = openRequest(url, { method: 'POST', headers: { ...type, ...headers } });
        const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
            sent.on('error', reject);
            sent.on('response', async (response) => {
                let text = '';
                for await (const piece of response.setEncoding('utf8')) text += piece;
                resolve({ status: response.statusCode ?? 0, text });
            });
        });
        answered.catch(() => undefined);
        return { sent, answered };
    };

    it('may have any of the media types that libraries use for lines', async () => {
        const types = ['ndjson', 'jsonl', 'x-jsonl', 'jsonlines', 'x-jsonlines', 'json-lines', 'NDJSON; charset=utf-8'];
        for (const type of types.map((name) => `application/${name}`)) {
            const priced = await send('{"params":{"id":1}}', `${QUERY}&dry_run=true`, { 'content-type': type });
            expect(dataOf<{ items: number }>(priced).items, type).to.equal(1);
        }
        for (const type of ['application/json-seq', 'application/jsonl; charset=latin1', 'text/plain']) {
            const refused = await send('{"params":{"id":1}}', QUERY, { 'content-type': type });
            expect(codeOf(refused), type).to.equal('UNSUPPORTED_MEDIA_TYPE');
        }
    });

    it('is refused if it comes in tiny pieces, and accepts as many short lines', async () => {
        const { port, hostname } = new URL(world.base);
        const open = () => {
            const socket = connect(Number(port), hostname);
            const received = { text: '' };
            socket.on('data', (text) => (received.text += text)).on('error', () => undefined);
            socket.write(
                `POST /v1/batches${QUERY} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${ada.apiKey}\r\n` +
                    'content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n',
            );
            const sendPieces = async (piece: string, count: number) => {
                const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
                for (let left = count; left > 0; left -= 1000)
                    if (!socket.write(chunk.repeat(Math.min(left, 1000)))) await writable(socket);
            };
            const answer = async () => {
                await eventually(async () => received.text.includes('"request_id"'), Boolean, 30_000);
                socket.destroy();
                return received.text;
            };
            return { socket, sendPieces, answer };
        };
        const few = open();
        await few.sendPieces('\n', 200_000);
        few.socket.write('0\r\n\r\n');
        expect(await few.answer())
            .to.include('at least one item')
            .and.not.include('pieces of less than');
        const many = open();
        // Once lines are stored, each piece is counted.
        await many.sendPieces('{"params":{"id":1}}\n'.repeat(11_000), 1);
        await eventually(drafts, (count) => count > 0, 30_000);
        await many.sendPieces('\n', 299_000);
        // Ends with the piece that is refused: later ones could reset the connection, and lose the answer.
        await many.sendPieces(`${' '.repeat(63)}\n`, 1001);
        const refused = await many.answer();
        expect(refused)
            .to.match(/^HTTP\/1\.1 400 /)
            .and.include('300,000 pieces of less than 256 bytes');
        expect(refused.toLowerCase()).to.include('connection: close');
    });

    it('runs each line, without blank ones and with the other fields in the query', async () => {
        const lines = '{"params":{"id":1},"custom_id":"a"}\r\n\n   \n{"params":{"id":2},"custom_id":"b"}\n\n';
        const metadata = encodeURIComponent('{"order":"7"}');
        const answer = await send(lines, `${QUERY}&name=many&max_credits=50&expires_in=3600&metadata=${metadata}`);
        expect(answer.status).to.equal(202);
        const batch = dataOf<Batch>(answer);
        expect(batch).to.deep.include({ name: 'many', metadata: { order: '7' }, credits: { used: 0, max: 50 } });
        const done = dataOf<Batch>(await ada.call('GET', `/v1/batches/${batch.batch_id}?wait=30`));
        expect([done.status, done.counts['succeeded']]).to.deep.equal(['succeeded', 2]);
    });

    it('is refused completely for wrong lines, each with its number', async () => {
        const before = await stored();
        const answer = await send('{"params":{"id":1}}\n{"params":{"id":0}}\n\nnonsense\n{"params":{"id":1},"site":"nowhere.test"}\n');
        expect(answer.status).to.equal(400);
        expect(detailsOf(answer)).to.deep.equal([
            '/lines/2/params/id INVALID_VALUE',
            '/lines/4 INVALID_JSON',
            '/lines/5/site SITE_NOT_FOUND',
        ]);
        expect(problemsOf(answer)).to.equal(3);
        expect(await stored()).to.equal(before);
    });

    it('looks up at most a thousand unknown sites, and counts the other lines as problems too', async () => {
        const { latest } = world.app;
        const { find } = latest;
        let looks = 0;
        latest.find = (question) => {
            looks += 1;
            return find(question);
        };
        try {
            const lines = Array.from({ length: 1500 }, (_, index) => ({ site: `unknown${index}.example`, params: { id: 1 } }));
            const answer = await send([{ params: { id: 1 } }, ...lines]);
            expect([detailsOf(answer).length, problemsOf(answer)]).to.deep.equal([100, 1500]);
            expect(looks).to.equal(1001);
        } finally {
            latest.find = find;
        }
    });

    it('counts the problems of all lines, and names the first hundred', async () => {
        const answer = await send(Array.from({ length: 1200 }, (_, at) => ({ params: { id: at < 5 ? 1 : 0 } })));
        expect([detailsOf(answer).length, problemsOf(answer)]).to.deep.equal([100, 1195]);
    });

    it('counts unknown endpoints and params of all lines', async () => {
        const wrong = (at: number) => (at % 2 === 0 ? { endpoint: `produkt${at}` } : { params: { id: 1, [`idd${at}`]: 2 } });
        let reads = 0;
        const note = ({ sql }: { sql: string }) => {
            if (/\bfrom\s+"?(domains|sites)\b|\bjoin\s+"?domains\b/.test(sql)) reads += 1;
        };
        world.app.db.on('query', note);
        const answer = await send(Array.from({ length: 1000 }, (_, at) => wrong(at))).finally(() => world.app.db.off('query', note));
        expect([detailsOf(answer).length, problemsOf(answer)]).to.deep.equal([100, 1000]);
        expect(reads, 'reads of the site').to.be.below(50);
    });

    it('refuses a line of more than 256 KiB, and no others', async () => {
        const answer = await send(`{"params":{"id":1}}\n{"params":{"id":1},"x":"${'y'.repeat(257 * 1024)}"}\n{"params":{"id":2}}`);
        expect(detailsOf(answer)).to.deep.equal(['/lines/2 TOO_COMPLEX']);
    });

    it('of more than 100,000 lines is refused', async () => {
        const answer = await send('{"params":{"id":1}}\n'.repeat(100_001), `${QUERY}&dry_run=true`);
        expect(detailsOf(answer)).to.deep.equal(['/items INVALID_VALUE']);
    });

    it('of more than 64 MiB is too large', async () => {
        const { sent, answered } = begin();
        sent.write('{"params":{"id":1}}\n');
        const piece = ' '.repeat(1024 * 1024 - 1);
        for (let mib = 0; mib < 65; mib++) {
            if (!sent.write(`${piece}\n`)) await Promise.race([new Promise((resolve) => sent.once('drain', resolve)), answered]);
        }
        sent.end();
        expect((await answered).status).to.equal(413);
    });

    it('may be larger than the memory that it is read into', async () => {
        const rich = await join(world, { plan: 'enterprise', credits: 100_000, overrides: { perMinute: 1, perHour: 1, perDay: 1 } });
        const lines = Array.from({ length: 25_000 }, (_, at) => JSON.stringify({ params: { id: at + 1 }, custom_id: `p${at}` })).join('\n');
        const headers = { 'content-type': 'application/x-ndjson' };
        const batch = dataOf<Batch>(await rich.call('POST', `/v1/batches${QUERY}`, { body: lines, headers }));
        expect(batch.counts['total']).to.equal(25_000);
        const rows: { custom_id: string }[] = await world.app
            .db('jobs')
            .where({ batch_id: batch.batch_id })
            .orderBy('number')
            .select('custom_id');
        expect(rows.every(({ custom_id: name }, at) => name === `p${at}`)).to.equal(true);
        expect(await world.app.db('batch_drafts').select('batch_id')).to.deep.equal([]);
        const cancelled = dataOf<Batch>(await rich.call('DELETE', `/v1/batches/${batch.batch_id}`));
        expect(cancelled.status).to.equal('cancelled');
    });

    it('is refused before it is stored if the account’s open jobs would exceed the limit, counting all its bodies', async () => {
        const poor = await join(world, { plan: 'free' });
        const lines = (count: number) => '{"params":{"id":1}}\n'.repeat(count);
        const sendAs = (body: string) =>
            poor.call('POST', `/v1/batches${QUERY}`, { body, headers: { 'content-type': 'application/x-ndjson' } });
        const alone = await insertsDuring(world, async () => [await sendAs(lines(10_001))]);
        expect(alone.answers.map(codeOf)).to.deep.equal(['RATE_LIMITED']);
        // Of the 10,001 lines, at most 10,000 in full statements.
        const isDraft = (table: string) => table === 'batch_drafts';
        expect(alone.inserts.every(isDraft)).to.equal(true);
        expect(alone.inserts).to.have.length.within(0, 20);
        const before = await stored();
        const together = await insertsDuring(world, () => Promise.all([sendAs(lines(6000)), sendAs(lines(6000))]));
        expect(together.answers.map(({ status }) => status)).to.include(429);
        // Of the 24 statements of both, those that go beyond the limit are not sent.
        expect(together.inserts.filter(isDraft)).to.have.length.within(0, 23);
        for (const { status, body } of together.answers)
            if (status === 202) await poor.call('DELETE', `/v1/batches/${(body['data'] as Batch).batch_id}`);
        expect((await stored()).split(' ')[2]).to.equal(before.split(' ')[2]);
        // Its share of the limit is free again.
        expect((await sendAs(lines(1))).status).to.equal(202);
    });

    it('is created by one statement, however many items it has, since its transaction locks the row of the account', async () => {
        const { answers, inserts } = await insertsDuring(world, async () => [await send('{"params":{"id":1}}\n'.repeat(1200))]);
        const [batch] = answers.map((answer) => dataOf<Batch>(answer));
        expect(batch?.counts['total']).to.equal(1200);
        expect(inserts.filter((table) => table === 'jobs')).to.have.length(1);
        await ada.call('DELETE', `/v1/batches/${batch?.batch_id}`);
    });

    it('keeps at most one statement of lines in memory while it arrives: the others wait in the database', async () => {
        const before = await stored();
        const { sent } = begin();
        sent.write('{"params":{"id":1}}\n'.repeat(1300));
        await eventually(drafts, (count) => count === 1000, 30_000);
        sent.destroy();
        await eventually(stored, (now) => now === before, 30_000);
    });

    it('leaves nothing behind if its body breaks off', async () => {
        const before = await stored();
        const { sent } = begin();
        sent.write('{"params":{"id":1}}\n'.repeat(11_000));
        await eventually(drafts, (count) => count > 0, 30_000);
        sent.destroy();
        await eventually(stored, (now) => now === before, 30_000);
    });

    it('has its Idempotency-Key from the first byte: another call with the key is refused at once, a repeat gets the response', async () => {
        const key = { 'idempotency-key': 'lines-once' };
        const { sent, answered } = begin(key);
        sent.write('{"params":{"id":1}}\n');
        await eventually(
            async () => world.app.db('idempotency').where({ idempotency_key: 'lines-once' }),
            (rows) => rows.length === 1,
        );
        expect(codeOf(await send([{ params: { id: 1 } }], QUERY, key))).to.equal('IDEMPOTENCY_IN_PROGRESS');
        sent.end();
        const first = await answered;
        expect(first.status).to.equal(202);
        expect((await send('{"params":{"id":1}}\n', QUERY, key)).text).to.equal(first.text);
        expect(codeOf(await send('{"params":{"id":2}}\n', QUERY, key))).to.equal('IDEMPOTENCY_CONFLICT');
        expect(codeOf(await send('{"params":{"id":1}}\n', `${QUERY}&name=other`, key))).to.equal('IDEMPOTENCY_CONFLICT');
    });

    it('may take longer than other bodies, but not pause for 15 seconds', async () => {
        const still = begin();
        still.sent.write('{"params":{"id":1}}\n');
        const { sent, answered } = begin();
        for (let second = 0; second < 12; second += 6) {
            sent.write('{"params":{"id":1}}\n');
            await pause(6000);
        }
        sent.end('{"params":{"id":2}}\n');
        expect((await answered).status).to.equal(202);
        const { status, text } = await still.answered;
        expect([status, JSON.parse(text).error.code]).to.deep.equal([408, 'REQUEST_TIMEOUT']);
    });

    for (const [name, query, path] of [
        ['metadata that is no JSON', `${QUERY}&metadata=x`, '/metadata'],
        ['metadata with a number', `${QUERY}&metadata=${encodeURIComponent('{"a":1}')}`, '/metadata/a'],
        ['an unknown field', `${QUERY}&unknown=1`, '/unknown'],
    ] as const) {
        it(`with ${name} in the query is refused`, async () => {
            const answer = await send([{ params: { id: 1 } }], query);
            expect([answer.status, ...detailsOf(answer).map((one) => one.split(' ')[0])]).to.deep.equal([400, path]);
        });
    }

    it('says how many problems it has, also if no item has one', async () => {
        const empty = await send('\n\n');
        expect([detailsOf(empty), problemsOf(empty)]).to.deep.equal([['/items INVALID_VALUE'], 1]);
        expect(problemsOf(await send([{ params: { id: 1 } }], `${QUERY}&metadata=x`))).to.equal(1);
    });

    it('accepts no fields in the query if it is JSON', async () => {
        const answer = await ada.call('POST', `/v1/batches${QUERY}`, { body: { items: [{ params: { id: 1 } }] } });
        expect(detailsOf(answer)).to.deep.equal(['/site UNKNOWN_FIELD', '/endpoint UNKNOWN_FIELD']);
    });
});
