import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { admin } from '../support/admin.ts';
import { eventually } from '../support/eventually.ts';
import { ask, foundIn, namesIn, untilIndexed } from '../support/find.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { addVectorType } from '../support/vector-type.ts';
import { openWorld, type World } from '../support/world.ts';

const MODEL = 'words-to-numbers';
/** The words of each meaning. A text has the meanings of its words. */
const MEANINGS = [/\b(weather|rain|umbrella|drenched)\b/i, /\b(exchange|currencies|banknotes)\b/i, /\b(songs?|tunes)\b/i];

const of = (site: string, name: string, description: string) =>
    aPackage(site, { title: site, endpoints: [anEndpoint(site, { name, description, url: `https://${site}/${name}`, params: [] })] });

/** A server with the embeddings API of OpenAI. */
function embeddingsServer() {
    const asked: string[] = [];
    const keys = new Set<string | undefined>();
    let isAway = false;
    const server: Server = createServer(async (request, response) => {
        let text = '';
        for await (const part of request) text += part;
        const { input, model } = JSON.parse(text) as { input: string[]; model: string };
        keys.add(request.headers.authorization);
        asked.push(...input);
        if (isAway || request.url !== '/v1/embeddings' || model !== MODEL) return response.writeHead(503).end();
        const data = input.map((one, index) => ({ index, embedding: [...MEANINGS.map((words) => Number(words.test(one))), 0.1] }));
        // In any order, since `index` identifies them.
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: data.toReversed() }));
    });
    return { server, asked, keys, leave: () => (isAway = true), comeBack: () => (isAway = false) };
}

describe('a task, with an embeddings server', () => {
    const models = embeddingsServer();
    let world: World;
    let maker: Person;
    let caller: Person;
    let url: string;

    before(async () => {
        await new Promise<void>((resolve) => models.server.listen(0, '127.0.0.1', resolve));
        url = `http://127.0.0.1:${(models.server.address() as AddressInfo).port}/v1`;
        world = await openWorld({ config: { embeddings: { url: `${url}/embeddings`, key: 'sk-local', model: MODEL, perMinute: 600 } } });
        maker = await join(world, { plan: 'enterprise' });
        caller = await join(world, { plan: 'enterprise' });
        for (const document of [
            of('sky.test', 'next_days', 'The weather of the coming days, such as rain.'),
            of('rates.test', 'latest', 'Exchange rates between two currencies.'),
        ])
            dataOf(await maker.publish(document));
        await untilIndexed(world);
    });
    after(async () => {
        await world?.close();
        models.server.close();
    });

    const find = async (task: string, person = caller) => namesIn(await ask(world, { task }, person));
    const embeddings = async (command: string) => {
        const env = { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: MODEL };
        const { code, out, err } = await admin(world.databaseUrl, ['embeddings', command, '--json'], env);
        return { code, output: [...out, ...err].join('\n') };
    };
    const untilEmbedded = () =>
        eventually(
            async () => world.app.db('endpoints as e').whereRaw('not exists (select from endpoint_vectors v where v.endpoint_id = e.id)'),
            (rows) => rows.length === 0,
        );

    it('is matched by words while there are no vectors, and is sent nowhere', async () => {
        expect(await find('weather and rain')).to.deep.equal(['sky.test/next_days']);
        expect(await find('shall I be drenched on Friday')).to.deep.equal([]);
        expect(models.asked).to.deep.equal([]);
    });

    it('is matched by words without pgvector, and the operator learns it', async () => {
        const { code, output } = await embeddings('rebuild');
        expect(code).to.equal(1);
        expect(output).to.include('pgvector');
        expect((await embeddings('status')).output).to.include('"ranking":"words"');
    });

    it('is matched by meaning once vectors exist, with a similarity score', async () => {
        await addVectorType(world.app.db);
        const { code, output } = await embeddings('rebuild');
        expect(code, output).to.equal(0);
        await untilEmbedded();
        expect((await embeddings('status')).output)
            .to.include('"ranking":"words and meaning"')
            .and.to.include('"waiting":0');
        await eventually(
            () => find('shall I be drenched on Friday'),
            (names) => names.length > 0,
        );
        const [found] = foundIn(await ask(world, { task: 'shall I be drenched on Friday' }, caller));
        expect(found).to.include({ site: 'sky.test', endpoint: 'next_days' });
        expect(found?.score).to.be.within(0.9, 1);
        expect(await find('walk my dog')).to.deep.equal([]);
        expect(models.keys).to.include('Bearer sk-local');
    });

    it('finds personal data only where the caller has an account, by meaning too, unless it names a site', async () => {
        const task = 'my notifications for umbrella weather';
        // The vector of a task may be late for its first search.
        expect([...(await find(task)), ...(await find(task))]).to.deep.equal([]);
        expect(namesIn(await ask(world, { task, site: 'sky.test' }, caller))).to.deep.equal(['sky.test/next_days']);
        expect(await find('my umbrella weather')).to.deep.equal(['sky.test/next_days']);
    });

    it('is embedded once, and never for a caller without a key', async () => {
        const task = 'how many banknotes do I get';
        expect(await find(task)).to.deep.equal(['rates.test/latest']);
        expect(await find(task)).to.deep.equal(['rates.test/latest']);
        expect(models.asked.filter((one) => one === task)).to.have.length(1);
        expect(await find('all my banknotes', stranger(world))).to.deep.equal([]);
        expect(models.asked).not.to.include('all my banknotes');
    });

    it('matches what is published later, and no older version', async () => {
        dataOf(await maker.publish(of('music.test', 'top', 'Songs that are heard most.')));
        await untilIndexed(world);
        await untilEmbedded();
        expect(await find('tunes for the evening')).to.deep.equal(['music.test/top']);
    });

    it('is matched by words while that server is down', async () => {
        models.leave();
        expect(await find('exchange rates of two currencies')).to.deep.equal(['rates.test/latest']);
        expect(await find('drenched again')).to.deep.equal([]);
        models.comeBack();
        expect(await find('drenched again')).to.deep.equal(['sky.test/next_days']);
    });

    it('is matched by words if the vectors belong to another model, until they are rebuilt', async () => {
        await world.app.db('embedding_model').update({ model: 'another' });
        await eventually(
            // A new account each time, since one account may search 60 times a minute.
            async () => find('shall I be drenched on Friday', await join(world, { plan: 'enterprise' })),
            (names) => names.length === 0,
        );
        expect(await find('weather and rain')).to.deep.equal(['sky.test/next_days']);
    });
});
