import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { countRows } from '../../shared/platform/db.ts';
import { askForDocument } from '../../shared/store/apps/apps.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { useWorld } from '../support/world.ts';

/** Threads of a worker for owners without an earlier lookup. */
const THREADS = 8;
const NAMES = 2 * THREADS;

describe('names whose name servers never answer', () => {
    const world = useWorld();
    const { asked } = hangLookups();

    it('occupy no more threads of a worker if several kinds of work call them', async () => {
        const stranger = await join(world);
        for (let number = 0; number < NAMES; number++) {
            const body = { url: `https://hook${number}.test/`, events: ['job.*'] };
            const { webhook_id: id } = dataOf(await stranger.call('POST', '/v1/webhooks', { body }));
            dataOf(await stranger.call('POST', `/v1/webhooks/${id}/test`));
        }
        await eventually(
            async () => asked.size,
            (count) => count === THREADS,
        );
        const { db } = world.app;
        for (let number = 0; number < NAMES; number++) await askForDocument(db, `https://app${number}.test/app.json`);
        await eventually(
            () => countRows(db('apps').whereNotNull('began_at')),
            (begun) => begun === NAMES,
        );
        await new Promise(setImmediate);
        expect([...asked].filter((host) => host.startsWith('app'))).to.deep.equal([]);
        expect(asked.size).to.equal(THREADS);
    });
});

/**
 * Lets the system's resolver hang for every name, until `fail` makes all lookups fail. Workers look names up until they stop, so the
 * resolver returns after the world has ended.
 */
function hangLookups() {
    const { lookup: system } = dns;
    const asked = new Set<string>();
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    const replace = (lookup: object) => {
        Object.assign(dns, { lookup });
        syncBuiltinESMExports();
    };
    const fail = () => over.reject(Object.assign(new Error('the name server does not answer'), { code: 'EAI_AGAIN' }));
    before(() =>
        replace((host: string) => {
            asked.add(host);
            return over.promise;
        }),
    );
    afterEach(fail);
    after(() => replace(system));
    return { asked };
}
