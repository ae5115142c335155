import { expect } from 'chai';
import { createFairQueue } from '../../api/schemas/fair-queue.ts';
import type { Refusal } from '../../shared/refusals.ts';
import { clientNumber, createSender } from '../hostile/crowd-client.ts';
import { branches } from '../hostile/requests.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { isWhole } from '../support/sample.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const free = (owner: string, network: string) => ({ owner, network, isFree: true, gone: undefined });
const paying = (owner: string) => ({ owner, network: 'office', isFree: false, gone: undefined });

describe('the queue of packages to check', () => {
    /** The accounts in the order of their checks. All are queued before the first one is done. */
    async function orderOf(turns: ReturnType<typeof free>[], before: ReturnType<typeof free>[] = []): Promise<string[]> {
        const line = createFairQueue();
        for (const turn of before) await line.run(turn, async () => ({ ms: 500 }));
        const order: string[] = [];
        const opened = Promise.withResolvers<void>();
        const first = line.run(free('first', 'first'), async () => {
            await opened.promise;
            return { ms: 1 };
        });
        const all = turns.map((turn) =>
            line.run(turn, async () => {
                order.push(turn.owner);
                return { ms: 500 };
            }),
        );
        opened.resolve();
        await Promise.all([first, ...all]);
        return order;
    }

    it('lets a paying account wait for one package of a crowd of free ones', async () => {
        const crowd = Array.from({ length: 20 }, (_, at) => free(`free ${at}`, `network ${at}`));
        const order = await orderOf([...crowd, { ...paying('payer') }]);
        expect(order.indexOf('payer')).to.be.at.most(1);
    });

    it('lets a free account wait for one package of a hundred accounts of one network', async () => {
        const crowd = Array.from({ length: 100 }, (_, at) => free(`free ${at}`, 'crowd'));
        const order = await orderOf([...crowd, free('honest', 'home')]);
        expect(order.indexOf('honest')).to.be.at.most(1);
    });

    it('prefers accounts that used little time, and their networks too', async () => {
        const slow = ['a', 'b', 'c'].map((owner) => free(owner, 'home'));
        expect(await orderOf([...slow, free('honest', 'home'), free('away', 'away')], slow)).to.deep.equal([
            'away',
            'honest',
            'a',
            'b',
            'c',
        ]);
    });

    it('tells an account that waited too long to retry', async () => {
        const line = createFairQueue({ patienceMs: 10 });
        const opened = Promise.withResolvers<{ ms: number }>();
        const first = line.run(free('a', 'a'), () => opened.promise);
        const refusal = await line.run(free('b', 'b'), async () => ({ ms: 1 })).catch((error: Refusal) => error);
        expect(refusal).to.include({ code: 'OVERLOADED' });
        opened.resolve({ ms: 1 });
        await first;
        expect(await line.run(free('c', 'c'), async () => ({ ms: 7 }))).to.deep.equal({ ms: 7 });
    });
});

describe('slow packages of forty free accounts', () => {
    const world = useWorld({ workers: 0 });

    /** Takes a third of a second to check, and is refused. */
    const slow = JSON.stringify(
        aPackage('slow.test', {
            endpoints: [0, 1].map((at) =>
                anEndpoint('slow.test', {
                    name: `e${at}`,
                    method: 'POST',
                    effect: 'read',
                    params: Array.from({ length: 30 }, (_, index) => ({
                        name: `p${index}`,
                        source: 'body',
                        required: false,
                        schema: branches(120, 100 * at + index),
                    })),
                }),
            ),
        }),
    );

    it('do not prevent a normal one from publishing: its turn comes before most of them', async () => {
        const honest = await join(world);
        const crowd = await Promise.all(Array.from({ length: 40 }, () => join(world)));
        const until = new AbortController();
        const sender = createSender(world.base, until.signal);
        const send = async ({ apiKey = '' }: Person, number: number) => {
            const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
            const sending = { method: 'POST', headers, body: slow, from: clientNumber(number) };
            while (!until.signal.aborted) {
                const { status } = await sender.send('/v1/schemas?dry_run=true', sending);
                // On a slow machine, many wait too long and give up at the same moment.
                if (status !== 503) checked++;
            }
        };
        let checked = 0;
        const running = crowd.map(send);
        const before: number[] = [];
        for (let turn = 0; turn < 3; turn++) {
            const so = checked;
            await eventually(
                async () => checked,
                (count) => count > so,
                60_000,
            );
            const began = checked;
            expect((await honest.publish(aPackage(`honest${turn}.test`))).status).to.equal(201);
            before.push(checked - began);
        }
        until.abort();
        await Promise.all(running);
        // Those being checked, and one or two whose turn came at the same moment. In order of arrival it would be forty each time. On a
        // slow machine, more are counted while the response is sent.
        expect((isWhole ? Math.max : Math.min)(...before)).to.be.below(12);
    });
});
