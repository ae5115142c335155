import { expect } from 'chai';
import type { WebhookEntry } from '../../shared/contracts/webhooks.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { dataOf } from '../support/routes.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const LATEST = 40_000;
const EVENTS = 150;

for (const topology of ANY_TOPOLOGY) {
    describe(`a worker that is killed while it sends events (${topology})`, () => {
        let processes: WorldOfProcesses;
        let receiver: Receiver;
        let ada: Person;
        let secret: string;
        beforeEach(async () => {
            receiver = await openReceiver();
            processes = await openWorldOfProcesses(topology, new Map());
            ada = await join(processes.world, { plan: 'pro' });
            const body = { url: receiver.url(), events: ['key.revoked'] };
            secret = dataOf<WebhookEntry>(await ada.call('POST', '/v1/webhooks', { body })).secret ?? '';
        });
        afterEach(async () => {
            await processes.close();
            await receiver.close();
        });

        const tell = async (count: number) => {
            const { workspaceId } = ada;
            const { db } = processes.world.app;
            for (let index = 0; index < count; index++)
                await recordEvent(db, { type: 'key.revoked', workspaceId, data: { name: `event ${index}` } });
        };
        const untilTold = (count: number) =>
            eventually(
                async () => new Set(receiver.told(secret).map(({ id }) => id)).size,
                (told) => told >= count,
                LATEST,
            );
        const untilDelivered = () =>
            eventually(
                () => processes.world.app.db('webhook_deliveries').whereNot({ status: 'delivered' }).pluck('status'),
                (waiting) => waiting.length === 0,
                LATEST,
            );

        it('loses none that was recorded before it started, and none that it had just sent', async () => {
            await tell(50);
            receiver.answer(() => {});
            const doomed = await processes.startWorker();
            await untilTold(4);
            doomed.signal('SIGKILL');
            await doomed.end('SIGKILL');
            receiver.answer((response) => void response.writeHead(204).end());
            await processes.startWorker();
            await untilTold(50);
            await untilDelivered();
        });

        it('loses none, however often workers are killed in between', async () => {
            const telling = tell(EVENTS);
            for (let death = 0; death < 2; death++) {
                const doomed = await processes.startWorker();
                const known = receiver.told().length;
                await eventually(
                    async () => receiver.told().length,
                    (told) => told > known || told >= EVENTS,
                    LATEST,
                );
                doomed.signal('SIGKILL');
                await doomed.end('SIGKILL');
            }
            await telling;
            await processes.startWorker();
            await untilTold(EVENTS);
            await untilDelivered();
            const names = receiver.told(secret).map(({ data }) => data['name']);
            expect(new Set(names).size).to.equal(EVENTS);
        });
    });
}
