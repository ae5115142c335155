import { connect } from 'node:net';
import { expect } from 'chai';
import { checkEnvelope } from '../support/answers.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { sendRaw } from '../support/raw.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';
import { type Malformed, malformedRequests } from './malformed-corpus.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`malformed requests, over ${topology} (I1, I13, I14)`, () => {
        let world: World;
        let person: Person;
        let corpus: Malformed[];
        /** Request ids of the responses. */
        const answered: string[] = [];

        before(async () => {
            // Every host name resolves to a closed port, where fetches of requests that are valid after all end.
            world = await openWorld({
                topology,
                config: { egressHosts: new Map([['shop.test', ['127.0.0.1']]]), egressAllow: [], arrivalMs: 1000 },
            });
            person = await join(world, {
                plan: 'enterprise',
                overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000, allowance: 100_000 },
            });
            dataOf(await person.publish(aPackage('shop.test')));
            corpus = malformedRequests(`Authorization: Bearer ${person.apiKey}`, topology);
        });
        after(() => world.close());

        async function check({ name, bytes, mayBeCut = false }: Malformed): Promise<void> {
            const answer = await sendRaw(world.base, bytes);
            const id = answer?.headers.get('x-request-id');
            if (id) answered.push(id);
            if (answer === undefined) expect(mayBeCut, 'cut off without an answer').to.equal(true);
            else if (answer.status >= 400) checkEnvelope(name, answer);
            // The only allowed 5xx: the request was valid after all, and its address is forbidden.
            if (answer !== undefined && codeOf(answer) !== 'EGRESS_DENIED') expect(answer.status).to.be.below(500);
            expect((await stranger(world).call('GET', '/v1/health')).status, 'health afterwards').to.equal(200);
        }

        it('break nothing: each gets an error envelope, health answers afterwards, and no bug is logged', async () => {
            expect(corpus.length).to.be.greaterThan(200);
            const faults: string[] = [];
            for (const malformed of corpus) {
                try {
                    await check(malformed);
                } catch (error) {
                    faults.push(`${malformed.name}: ${error instanceof Error ? error.message : error}`);
                }
            }
            expect(faults, faults.join('\n')).to.deep.equal([]);
            const bugs = world.logged.filter(({ level }) => level === 'error' || level === 'fatal');
            expect(bugs, JSON.stringify(bugs[0])).to.deep.equal([]);
        });

        for (const first of ['CONNECT /v1/fetch HTTP/1.1\r\nHost: a\r\n\r\nbytes behind it', 'no HTTP\r\n\r\n']) {
            it(`leave no connection open if the client neither reads on nor closes it: ${first.split(' ', 1)}`, async () => {
                const { hostname, port } = new URL(world.base);
                const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).on('error', () => {});
                const closed = new Promise((resolve) => void socket.once('close', resolve));
                socket.write(first);
                // Writing fails as soon as the server has closed its end.
                const writing = setInterval(() => socket.write('more'), 20);
                await closed.finally(() => clearInterval(writing));
            });
        }

        it('leave one log line for each response', async () => {
            const linesOf = (id: string) =>
                world.logged.filter((line) => line['request_id'] === id && line['message'] === 'answered').length;
            await eventually(
                async () => answered.filter((id) => linesOf(id) !== 1),
                (odd) => odd.length === 0,
            );
        });

        it('leave fewer than 2,000 series in the metrics', async () => {
            const { body } = await stranger(world).call('GET', '/metrics');
            const series = String(body['text'])
                .split('\n')
                .filter((line) => line !== '' && !line.startsWith('#'));
            expect(series.length).to.be.within(50, 2000);
        });

        it('leave nothing stored but the package from before', async () => {
            const { rows } = await world.app.db.raw<{ rows: { site: string; versions: number }[] }>('select site, versions from sites');
            expect(rows.map(({ site }) => site)).to.deep.equal(['shop.test']);
        });
    });
}
