import { expect } from 'chai';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { createHostLines, type SendEnd } from '../../workers/webhooks/host-lines.ts';

let number = 0;

function due(
    host: string,
    webhookId: string,
    { failures = 0, hasDelivered = false, freeUser = null }: Partial<Pick<DueDelivery, 'failures' | 'hasDelivered' | 'freeUser'>> = {},
): DueDelivery {
    number += 1;
    const domain = registrableDomain(host) ?? host;
    return {
        deliveryId: `dlv_${number}`,
        host,
        domain,
        webhookId,
        url: `https://${host}/`,
        failures,
        hasDelivered,
        freeUser,
    } as DueDelivery;
}

/** Queues whose requests end when the test says so. */
function openLines(now?: () => number) {
    const open: { delivery: DueDelivery; end: (how: SendEnd) => void }[] = [];
    const lines = createHostLines((delivery) => new Promise((end) => open.push({ delivery, end })), now);
    const add = (deliveries: DueDelivery[]) => {
        lines.setHosts([...lines.hosts(), ...deliveries.map(({ host }) => host)]);
        lines.add(deliveries);
    };
    return { lines, open, add, openTo: (host: string) => open.filter(({ delivery }) => delivery.host === host).length };
}

describe('the pending deliveries of a worker', () => {
    it('leave slots for others at once, however many receivers hang', () => {
        const { open, openTo, add } = openLines();
        const hosts = Array.from({ length: 400 }, (_, index) => `hangs${index}.example`);
        add(hosts.flatMap((host) => Array.from({ length: 4 }, () => due(host, `whk_${host}`, { failures: 3 }))));
        expect(open).to.have.length(512);
        add([due('new.example', 'whk_new'), due('good.example', 'whk_good', { hasDelivered: true })]);
        expect([openTo('new.example'), openTo('good.example')]).to.deep.equal([1, 1]);
    });

    it('leave slots for others, however many receivers of free accounts answer slowly', async () => {
        const { lines, open, openTo, add } = openLines();
        const slowOf = (account: number) =>
            Array.from({ length: 20 }, (_, index) => `slow${account}-${index}.example`).flatMap((host) =>
                Array.from({ length: 8 }, () => due(host, `whk_${host}`, { hasDelivered: true, freeUser: `usr_${account}` })),
            );
        add(slowOf(0));
        expect(open, 'of one account').to.have.length(32);
        for (let account = 1; account < 40; account++) add(slowOf(account));
        add([
            due('free.example', 'whk_free', { hasDelivered: true, freeUser: 'usr_good' }),
            due('paying.example', 'whk_paying', { hasDelivered: true }),
        ]);
        expect([openTo('free.example'), openTo('paying.example')]).to.deep.equal([1, 1]);
        expect(lines.heldUp(), 'their hosts make room for others').to.include('slow39-1.example');
        for (const { end } of open.splice(0)) end('delivered');
        await new Promise((resolve) => setImmediate(resolve));
        expect(open.length, 'the others follow').to.be.above(32);
    });

    it('give up hosts whose receivers all fail, and no other host, for one that needs their slot', async () => {
        const { lines, open, add } = openLines();
        add([
            ...Array.from({ length: 5 }, () => due('fails.example', 'whk_1', { failures: 3 })),
            ...Array.from({ length: 5 }, () => due('good.example', 'whk_2', { hasDelivered: true })),
        ]);
        expect(lines.heldUp(), 'while requests are on their way').to.deep.equal([]);
        for (const { delivery, end } of open.splice(0)) end(delivery.host === 'good.example' ? 'delivered' : 'failed');
        await new Promise((resolve) => setImmediate(resolve));
        expect(lines.heldUp()).to.deep.equal(['fails.example']);
    });

    it('prefer the webhook with the fewest failures, and wait together after a failure', async () => {
        const { lines, open, add } = openLines();
        add([
            ...Array.from({ length: 9 }, () => due('one.example', 'whk_1', { failures: 3 })),
            due('one.example', 'whk_2', { failures: 1 }),
        ]);
        expect(open.map(({ delivery }) => delivery.webhookId)).to.deep.equal(['whk_2', 'whk_1', 'whk_1', 'whk_1']);
        open[1]?.end('failed');
        await new Promise((resolve) => setImmediate(resolve));
        add([due('one.example', 'whk_3'), due('one.example', 'whk_4', { hasDelivered: true })]);
        expect(open.slice(4).map(({ delivery }) => delivery.webhookId)).to.deep.equal(['whk_4']);
        open[0]?.end('delivered');
        await new Promise((resolve) => setImmediate(resolve));
        add([due('one.example', 'whk_2')]);
        expect(open.slice(5).map(({ delivery }) => delivery.webhookId)).to.deep.equal(['whk_2']);
        expect(lines.hosts()).to.deep.equal(['one.example']);
    });

    it('of a free account go to a domain at a pace over all its webhooks and hosts, and those of others at once', async () => {
        let time = 0;
        const { lines, open, add } = openLines(() => time);
        const sent = new Map<string, number>();
        /** Delivers until nothing more may be sent. */
        const deliver = async () => {
            while (open.length > 0) {
                for (const { delivery, end } of open.splice(0)) {
                    const to = `${delivery.freeUser} ${delivery.domain}`;
                    sent.set(to, (sent.get(to) ?? 0) + 1);
                    end('delivered');
                    lines.forget([delivery.deliveryId]);
                }
                await new Promise((resolve) => setImmediate(resolve));
                lines.add([]);
            }
            return Object.fromEntries(sent);
        };
        const many = (host: string, freeUser: string | null, count: number) =>
            Array.from({ length: count }, (_, index) => due(host, `whk_${freeUser} ${index % 20}`, { hasDelivered: true, freeUser }));
        // A site may answer for any name of its domain.
        const hosts = ['victim.example', ...Array.from({ length: 19 }, (_, index) => `any${index}.victim.example`)];
        add(hosts.flatMap((host) => many(host, 'usr_1', 10)));
        expect(await deliver()).to.deep.equal({ 'usr_1 victim.example': 120 });
        expect(lines.heldUp(), 'gives their slots up').to.have.members(hosts);
        add([...many('victim.example', 'usr_2', 7), ...many('victim.example', null, 200), ...many('other.example', 'usr_1', 7)]);
        const others = { 'usr_2 victim.example': 7, 'null victim.example': 200, 'usr_1 other.example': 7 };
        expect(await deliver()).to.deep.equal({ 'usr_1 victim.example': 120, ...others });
        time += 59_999;
        lines.add([]);
        expect(open).to.deep.equal([]);
        time += 1;
        lines.add([]);
        expect(await deliver()).to.deep.equal({ 'usr_1 victim.example': 200, ...others });
    });
});
