import { expect } from 'chai';
import { dataOf } from '../support/routes.ts';
import { oneOf } from '../support/sample.ts';
import { type Bench, CREDENTIAL, encodePlace, openBench, REBOUND, SHOP } from './bench.ts';
import { FORMS, packagesOf } from './forms.ts';
import { NaiveConnector } from './naive-connector.ts';

async function open(make?: Parameters<typeof openBench>[0]): Promise<Bench> {
    const bench = await openBench(make);
    for (const [site, endpoints] of Object.entries(packagesOf(bench))) {
        const { status, body } = await bench.publish(site, endpoints);
        if (status !== 201) await bench.close().finally(() => Promise.reject(new Error(JSON.stringify(body))));
        dataOf(await bench.connect(site));
    }
    return bench;
}

const balanceOf = async ({ person }: Bench) =>
    dataOf<{ credits: { balance: number; held: number } }>(await person.call('GET', '/v1/account')).credits;

describe('the egress corpus with a connection, from the API to the dial (E1)', () => {
    let bench: Bench;
    let atFirst: { balance: number; held: number };

    before(async () => {
        bench = await open();
        // A good redirect passes, so that a guard that refuses everything fails. It also earns the bonus of a first fetch.
        dataOf(await bench.call(SHOP, 'go', { to: encodePlace('/fine') }));
        atFirst = await balanceOf(bench);
    });
    after(() => bench?.close());

    const values = (name: string) => name.startsWith('a value');
    for (const form of FORMS.filter(({ name }) => !values(name))) {
        it(`reaches no forbidden address by ${form.name}`, async () => expect(await form.run(bench)).to.deep.equal([]));
    }

    it('costs nobody a credit', async () => expect(await balanceOf(bench)).to.deep.equal(atFirst));

    for (const form of FORMS.filter(({ name }) => values(name))) {
        it(`is not misdirected by ${form.name}`, async () => expect(await form.run(bench)).to.deep.equal([]));
    }

    it('never reaches the forbidden listener', () => {
        expect(bench.forbidden.seen).to.have.length(0);
        expect(bench.forbidden.connections()).to.equal(0);
    });

    it('sends the credential to its own hosts only', () => {
        const { good, world } = bench;
        expect([...bench.credited()]).to.include(`${SHOP}:${good.port}`);
        expect(bench.trespasses()).to.deep.equal([]);
        expect(JSON.stringify(world.logged)).not.to.include(CREDENTIAL);
    });

    it('contains at least two hundred forms, each once', () => {
        expect(new Set(FORMS.map(({ name }) => name)).size).to.equal(FORMS.length);
        expect(FORMS.length).to.be.at.least(200);
    });

    it('causes no logged bug', () => {
        expect(bench.world.logged.filter(({ level }) => level === 'error' || level === 'fatal')).to.deep.equal([]);
    });
});

describe('the egress corpus, run against a worker with another connector (E2)', () => {
    let naive: Bench;
    before(async () => {
        naive = await open((rules, dialled) => new NaiveConnector(rules, dialled));
    });
    after(() => naive?.close());

    it('detects a missing guard: at least half of it fails', async () => {
        const forms = FORMS.filter(oneOf(11));
        let red = 0;
        for (const form of forms) if ((await form.run(naive)).length > 0) red++;
        expect(red).to.be.at.least(forms.length / 2);
        expect(naive.forbidden.connections(), 'the listener was really reached').to.be.above(forms.length === FORMS.length ? 20 : 0);
    });

    it('detects a credential at a wrong host', async () => {
        naive.answers.set('d1.rebound.test', ['127.0.0.1']);
        await naive.call(REBOUND, 'answer_1');
        expect(naive.trespasses()).to.include(`d1.rebound.test:${naive.forbidden.port} got the credential`);
    });
});
