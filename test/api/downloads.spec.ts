import { expect } from 'chai';
import { someone } from '../support/batch-world.ts';
import type { Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'downloads.test';
const ITEMS = 3000;
const DOWNLOADS = 12;
const LINES = { accept: 'application/x-ndjson' };

describe('many downloads of one client', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    let results: string;
    before(async () => {
        ada = await someone(world);
        dataOf(await ada.publish(aPackage(SITE)));
        const items = Array.from({ length: ITEMS }, (_, at) => ({ params: { id: at + 1 } }));
        const body = { defaults: { site: SITE, endpoint: 'product' }, items };
        const { batch_id: id } = dataOf<{ batch_id: string }>(await ada.call('POST', '/v1/batches', { body }));
        await ada.call('DELETE', `/v1/batches/${id}`);
        results = `/v1/batches/${id}/results`;
    });

    it('read the database one after another, and are complete', async () => {
        const running = new Set<string>();
        let most = 0;
        const begin = ({ sql, __knexQueryUid: id }: { sql: string; __knexQueryUid: string }) => {
            if (!sql.includes('end_number')) return;
            running.add(id);
            most = Math.max(most, running.size);
        };
        const end = (_answer: unknown, { __knexQueryUid: id }: { __knexQueryUid: string }) => void running.delete(id);
        world.app.browse.on('query', begin).on('query-response', end);
        try {
            const answers = await Promise.all(Array.from({ length: DOWNLOADS }, () => ada.call('GET', results, { headers: LINES })));
            expect(answers.map(({ text = '' }) => text.trimEnd().split('\n').length)).to.deep.equal(Array(DOWNLOADS).fill(ITEMS));
            expect(most).to.equal(1);
        } finally {
            world.app.browse.off('query', begin).off('query-response', end);
        }
    });
});
