import { expect } from 'chai';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, openWorld, useWorld } from '../support/world.ts';

const SITE = 'shop.test';

for (const topology of ANY_TOPOLOGY) {
    describe(`limits of catalog look-ups, counted in ${topology}`, () => {
        const world = useWorld({ topology, workers: 0, config: { trustProxy: 1 } });
        let maker: Person;

        before(async () => {
            maker = await join(world, { plan: 'enterprise' });
            dataOf(await maker.publish(aPackage(SITE)));
        });

        const path = (domain = SITE) => `/v1/catalog/${domain}?intent=${encodeURIComponent(INTENT)}`;
        const from = (address: string, domain?: string) =>
            stranger(world).call('GET', path(domain), { headers: { 'x-forwarded-for': address } });

        it('allow an address without a key five an hour, and say so in every response', async () => {
            for (let left = 4; left >= 0; left--) {
                const { status, headers } = await from('198.51.100.1');
                expect(status).to.equal(200);
                expect(headers.get('ratelimit-policy')).to.equal('"hour";q=5;w=3600');
                expect(headers.get('ratelimit')).to.match(new RegExp(`^"hour";r=${left};t=(3600|359\\d)$`));
                expect(headers.get('x-ratelimit-limit')).to.equal('5');
                expect(headers.get('x-ratelimit-remaining')).to.equal(String(left));
                expect(Number(headers.get('x-ratelimit-reset'))).to.be.within(3590, 3600);
            }
            const refused = await from('198.51.100.1');
            expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
            const { message } = refused.body['error'] as { message: string };
            expect(message).to.include('hour').and.include(`${world.app.publicUrl()}/signup`);
            expect(refused.headers.get('x-ratelimit-remaining')).to.equal('0');
            expect(Number(refused.headers.get('retry-after'))).to.be.within(3590, 3600);
            expect((await from('198.51.100.2')).status).to.equal(200);
        });

        it('allow more when the hour is over, as Retry-After said', async () => {
            for (let count = 0; count < 5; count++) await from('198.51.100.3');
            const wait = Number((await from('198.51.100.3')).headers.get('retry-after'));
            await world.clock.advance({ seconds: wait });
            expect((await from('198.51.100.3')).status).to.equal(200);
        });

        it('recognise a client behind a proxy that appends the port, whatever the client sent in the header', async () => {
            for (const [client, other] of [
                ['198.51.100.20', '198.51.100.21'],
                ['[2001:db8:7::1]', '[2001:db8:8::1]'],
            ] as const) {
                for (let port = 1; port <= 5; port++) await from(`198.51.100.${port + 30}, ${client}:${port}`);
                expect((await from(`${other}, ${client}:6`)).status).to.equal(429);
                expect((await from(`${client}, ${other}:6`)).status).to.equal(200);
            }
        });

        it('use the clock of the store: a process with a wrong clock allows no more', async () => {
            for (let count = 0; count < 5; count++) await from('198.51.100.8');
            const now = Date.now;
            Date.now = () => now() + 7_200_000;
            try {
                expect((await from('198.51.100.8')).status).to.equal(429);
                expect((await from('198.51.100.9')).headers.get('ratelimit')).to.match(/r=4;t=(3600|359\d)$/);
            } finally {
                Date.now = now;
            }
        });

        it('count an IPv6 household by its /64, and an IPv4-mapped address as IPv4', async () => {
            for (let host = 1; host <= 5; host++) expect((await from(`2001:db8:1:2::${host}`)).status).to.equal(200);
            expect((await from('2001:db8:1:2:ffff:ffff:ffff:ffff')).status).to.equal(429);
            expect((await from('2001:0DB8:0001:0002::9')).status).to.equal(429);
            expect((await from('2001:db8:1:3::1')).status).to.equal(200);
            for (let count = 0; count < 5; count++) await from('198.51.100.4');
            expect((await from('::ffff:198.51.100.4')).status).to.equal(429);
        });

        it('count IPv4 clients separately behind NAT64, which puts all of them into one /64', async () => {
            for (let count = 0; count < 5; count++) expect((await from('64:ff9b::198.51.100.11')).status).to.equal(200);
            expect((await from('64:ff9b::198.51.100.11')).status).to.equal(429);
            expect((await from('198.51.100.11')).status).to.equal(429);
            expect((await from('64:ff9b::198.51.100.12')).status).to.equal(200);
        });

        it('count look-ups of unknown sites, but no calls that are refused earlier', async () => {
            const left = ({ headers }: Answer) => headers.get('x-ratelimit-remaining');
            const missing = await from('198.51.100.5', 'nowhere.test');
            expect([missing.status, left(missing)]).to.deep.equal([404, '4']);
            for (const bad of ['/v1/catalog/no_domain', `/v1/catalog/${SITE}`, `/v1/catalog/${SITE}?intent=short`, `${path()}&unknown=1`]) {
                const refused = await stranger(world).call('GET', bad, { headers: { 'x-forwarded-for': '198.51.100.5' } });
                expect([refused.status, left(refused)], bad).to.deep.equal([400, null]);
            }
            expect(left(await from('198.51.100.5'))).to.equal('3');
        });

        it('trust only the last address of X-Forwarded-For, whatever a caller writes before it', async () => {
            for (let count = 0; count < 5; count++) expect((await from(`10.0.0.${count}, 198.51.100.6`)).status).to.equal(200);
            expect((await from('10.0.0.99, 198.51.100.6')).status).to.equal(429);
        });

        it('count a key by its account, in three windows, and not by address', async () => {
            const person = await join(world);
            for (let left = 19; left >= 18; left--) {
                const { headers } = await person.call('GET', path(), { headers: { 'x-forwarded-for': '198.51.100.7' } });
                expect(headers.get('ratelimit-policy')).to.equal('"minute";q=20;w=60, "hour";q=1000;w=3600, "day";q=1000;w=86400');
                expect(headers.get('x-ratelimit-remaining')).to.equal(String(left));
            }
            expect((await from('198.51.100.7')).headers.get('x-ratelimit-remaining')).to.equal('4');
            const account = dataOf<{ limits: { window: string; remaining: number }[] }>(await person.call('GET', '/v1/account'));
            expect(account.limits.map(({ window, remaining }) => `${window} ${remaining}`)).to.deep.equal([
                'minute 18',
                'hour 998',
                'day 998',
            ]);
        });

        it('allow exactly twenty of forty concurrent look-ups, over two processes', async () => {
            const person = await join(world);
            const other = await world.openAnotherApi();
            const answers = await Promise.all(
                Array.from({ length: 40 }, (_, index) => person.call('GET', path(), { base: index % 2 === 0 ? world.base : other.base })),
            );
            expect(answers.filter(({ status }) => status === 200)).to.have.length(20);
            expect(answers.filter(({ status }) => status === 429)).to.have.length(20);
        });
    });
}

describe('without TRUST_PROXY', () => {
    it('ignores X-Forwarded-For and counts the peer address', async () => {
        const world = await openWorld({ workers: 0 });
        try {
            const path = `/v1/catalog/nowhere.test?intent=${encodeURIComponent(INTENT)}`;
            for (let count = 0; count < 5; count++) {
                const answer = await stranger(world).call('GET', path, { headers: { 'x-forwarded-for': `192.0.2.${count}` } });
                expect(answer.status).to.equal(404);
            }
            expect((await stranger(world).call('GET', path, { headers: { 'x-forwarded-for': '192.0.2.99' } })).status).to.equal(429);
        } finally {
            await world.close();
        }
    });
});
