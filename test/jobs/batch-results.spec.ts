import { expect } from 'chai';
import { ended, FLAKY, type Item, ordered, products, useBatchWorld } from '../support/batch-world.ts';
import { says } from '../support/flaky-site.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`results of a batch, with queue and limits in ${topology}`, () => {
        const opened = useBatchWorld(topology);

        it('shows each result once to a reader who continues with the last cursor', async () => {
            const batch = await ordered(opened.ada, { items: products(25) });
            const seen: string[] = [];
            let after = '';
            for (;;) {
                const page = await opened.ada.call(
                    'GET',
                    `/v1/batches/${batch.batch_id}/results?limit=4&after=${encodeURIComponent(after)}`.replace(/&after=$/, ''),
                );
                seen.push(...dataOf<Item[]>(page).map(({ job_id: id }) => id));
                const { next_cursor: next } = paginationOf(page);
                if (next === null) break;
                after = next;
            }
            expect(seen).to.have.length(25);
            expect(new Set(seen).size).to.equal(25);
        });

        it('takes a cursor only with the filter it came from', async () => {
            const batch = await ordered(opened.ada, { items: products(3) });
            await ended(opened.ada, batch);
            const path = `/v1/batches/${batch.batch_id}/results?limit=1`;
            const [first] = dataOf<Item[]>(await opened.ada.call('GET', `${path}&status=succeeded`));
            const after = `&after=${encodeURIComponent(first?.cursor ?? '')}`;
            expect(dataOf<Item[]>(await opened.ada.call('GET', `${path}&status=succeeded${after}`))).to.have.length(1);
            for (const other of ['', '&status=failed']) {
                expect(codeOf(await opened.ada.call('GET', `${path}${other}${after}`)), other).to.equal('INVALID_CURSOR');
            }
        });

        it('streams results as lines, each with its cursor', async () => {
            const batch = await ordered(opened.ada, { items: products(12) });
            await ended(opened.ada, batch);
            const path = `/v1/batches/${batch.batch_id}/results`;
            const answer = await opened.ada.call('GET', path, { headers: { accept: 'application/x-ndjson' } });
            expect(answer.headers.get('content-type')).to.match(/^application\/x-ndjson/);
            const items = (answer.text ?? '')
                .trim()
                .split('\n')
                .map((line): Item => JSON.parse(line));
            expect(items).to.have.length(12);
            const rest = await opened.ada.call('GET', `${path}?after=${encodeURIComponent(items[9]?.cursor ?? '')}`, {
                headers: { accept: 'application/x-ndjson' },
            });
            expect((rest.text ?? '').trim().split('\n')).to.have.length(2);
            expect(items.every(({ result }) => result !== null)).to.equal(true);
        });

        it('streams a result as one line if its site indents JSON', async () => {
            opened.flaky.behaviour = says(200, {}, '{\r\n    "id": 12345678901234567890,\n    "text": "two\\nlines"\r}\n');
            const batch = await ordered(opened.ada, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}] });
            await ended(opened.ada, batch);
            const headers = { accept: 'application/x-ndjson' };
            const { text = '' } = await opened.ada.call('GET', `/v1/batches/${batch.batch_id}/results`, { headers });
            const lines = text.trimEnd().split(/\r\n|\r|\n/);
            expect(lines.map((line) => (JSON.parse(line) as Item).result?.data['text'])).to.deep.equal(['two\nlines', 'two\nlines']);
            expect(text).to.include('12345678901234567890');
        });

        it('answers results in the form that Accept prefers', async () => {
            const batch = await ordered(opened.ada, { items: products(1) });
            await ended(opened.ada, batch);
            const formOf = async (accept: string) =>
                (await opened.ada.call('GET', `/v1/batches/${batch.batch_id}/results`, { headers: { accept } })).headers.get(
                    'content-type',
                );
            for (const accept of [
                ...['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0', '*/*'],
                ...['application/x-ndjson;q=0.5, */*', 'application/*, application/x-ndjson;q=0.9'],
            ])
                expect(await formOf(accept), accept).to.match(/^application\/json/);
            for (const accept of [
                'application/x-ndjson, */*;q=0.1',
                'application/json;q=0.9, Application/X-NDJSON',
                'application/x-ndjson; q=0.2',
                'application/jsonl',
            ])
                expect(await formOf(accept), accept).to.match(/^application\/x-ndjson/);
        });
    });
}
