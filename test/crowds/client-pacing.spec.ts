import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { expect } from 'chai';
import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { join, type Person } from '../support/people.ts';
import { useWorld } from '../support/world.ts';

/** Cheap requests that one client may send to this world in a second. */
const PER_SECOND = 20;
const FLOOD = 60;

describe('a client that sends many cheap requests', () => {
    const world = useWorld({ workers: 0, config: { cheapPerSecond: PER_SECOND, guessesPerSecond: 1 } });
    let ada: Person;

    before(async () => {
        ada = await join(world);
    });

    /** The status of a response, and how long it took. */
    async function ask(path: string, localAddress: string, apiKey?: string): Promise<{ status: number; ms: number }> {
        const began = performance.now();
        const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
        const agent = new Agent({ maxSockets: 1 });
        const asking = request(`${world.base}${path}`, { localAddress, headers, agent }).end();
        const [response] = await once(asking, 'response');
        response.resume();
        await once(response, 'end');
        agent.destroy();
        return { status: response.statusCode, ms: performance.now() - began };
    }
    const flood = (path: string, from: string, keyOf: () => string | undefined) =>
        Promise.all(Array.from({ length: FLOOD }, () => ask(path, from, keyOf())));
    const delayed = (answers: readonly { ms: number }[]) => answers.filter(({ ms }) => ms >= 500).length;

    it('gets all responses, those beyond its share later', async () => {
        const answers = await flood('/livez', '127.0.0.2', () => undefined);
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(FLOOD).fill(200));
        // During the flood, some of its share is refilled.
        expect(delayed(answers)).to.be.at.least(FLOOD / 2);
    });

    it('gets responses to invalid keys later', async () => {
        // The first ones are checked like any other call.
        for (let count = 0; count < 3; count++) await ask('/v1/account', '127.0.0.3', newApiKey());
        const answers = await flood('/v1/account', '127.0.0.3', newApiKey);
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(FLOOD).fill(401));
        expect(delayed(answers)).to.be.at.least(FLOOD / 4);
    });

    it('does not slow down a valid key at the same address, however many calls it makes', async () => {
        const ended: string[] = [];
        const [, calls] = await Promise.all([
            flood('/livez', '127.0.0.4', () => undefined).then(() => ended.push('without a key')),
            flood('/v1/account', '127.0.0.4', () => ada.apiKey).finally(() => ended.push('with a key')),
        ]);
        expect(calls.map(({ status }) => status)).to.deep.equal(Array(FLOOD).fill(200));
        expect(ended).to.deep.equal(['with a key', 'without a key']);
    });
});
