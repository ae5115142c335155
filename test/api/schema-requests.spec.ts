import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { RequestAnswer, RequestCreated } from '../../shared/contracts/requests.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { admin } from '../support/admin.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const TASK = 'Read the price of every pair of shoes once a day.';

for (const topology of ANY_TOPOLOGY) {
    describe(`a schema request, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0, config: { trustProxy: 1 } });
        let other: string;
        let ada: Person;
        let number = 0;

        before(async () => {
            other = (await world.openAnotherApi()).base;
            ada = await join(world);
        });

        const newSite = () => `wanted${++number}.test`;
        const ask = (person: Person, body: object, headers: Record<string, string> = {}) =>
            person.call('POST', '/v1/schema-requests', { body, headers });
        const created = (answer: Answer) => dataOf(answer) as unknown as RequestCreated;
        const read = (id: string, person = stranger(world)) => person.call('GET', `/v1/schema-requests/${id}`);
        const seen = async (id: string) => dataOf(await read(id)) as unknown as RequestAnswer;
        let address = 0;
        /** A caller without a key, at an address of its own. */
        const passerBy = () => ({ 'x-forwarded-for': `10.1.${(address >> 8) % 256}.${address++ % 256}` });

        it('needs the domain and the task only, and no key, and gets a status URL', async () => {
            const domain = newSite();
            const answer = await ask(stranger(world), { domain, task: TASK }, passerBy());
            expect(answer.status).to.equal(201);
            const made = created(answer);
            expect(made).to.include({ domain, status: 'open', demand: 1 });
            expect(answer.headers.get('location')).to.equal(`/v1/schema-requests/${made.request_id}`);
            expect(await seen(made.request_id)).to.deep.equal({
                request_id: made.request_id,
                domain,
                task: TASK,
                read_or_write: null,
                auth_shape: null,
                output_shape: null,
                failure_mode: null,
                intent_category: null,
                frequency: null,
                status: 'open',
                demand: 1,
                created_at: made.created_at,
                updated_at: made.created_at,
                fulfilled_by: null,
                history: [{ status: 'open', at: made.created_at }],
            });
        });

        it('stores all its fields, tidied, and never shows the contact address', async () => {
            const site = newSite();
            const order = {
                domain: ` WWW.${site.toUpperCase()}. `,
                task: `  ${TASK}\r\nThen compare.\t\n`,
                read_or_write: 'read_write',
                auth_shape: 'owner_approved',
                output_shape: 'A list:\r\n- sku\n- price',
                failure_mode: ' The page changes its markup every week. ',
                intent_category: 'commerce/pricing',
                source_url: `https://${site}/shoes?page=1`,
                frequency: 'hourly',
                requester_contact: 'ada@contact.example',
            };
            const { request_id } = created(await ask(ada, order));
            const answer = await read(request_id);
            expect(dataOf(answer)).to.deep.include({
                domain: site,
                task: `${TASK}\nThen compare.`,
                read_or_write: 'read_write',
                auth_shape: 'owner_approved',
                output_shape: 'A list:\n- sku\n- price',
                failure_mode: 'The page changes its markup every week.',
                intent_category: 'commerce/pricing',
                frequency: 'hourly',
            });
            for (const person of [stranger(world), ada, await join(world)])
                expect(JSON.stringify((await read(request_id, person)).body)).not.to.match(/contact|workspace|wsp_/);
        });

        it('counts the demand for one domain, whoever asks and in any spelling', async () => {
            const site = newSite();
            expect(created(await ask(ada, { domain: site, task: TASK })).demand).to.equal(1);
            expect(created(await ask(ada, { domain: `www.${site}`, task: TASK })).demand).to.equal(2);
            const last = created(await ask(stranger(world), { domain: site.toUpperCase(), task: TASK }, passerBy()));
            expect(last.demand).to.equal(3);
            expect(created(await ask(ada, { domain: `shop.${site}`, task: TASK })).demand).to.equal(1);
            expect((await seen(last.request_id)).demand).to.equal(3);
        });

        it('has a task of 20 to 4,000 characters, counted like people count them', async () => {
            const status = async (task: unknown) => (await ask(ada, { domain: newSite(), task })).status;
            for (const good of ['x'.repeat(20), 'x'.repeat(4000), '😀'.repeat(20), '😀'.repeat(4000), ` ${'x'.repeat(20)} `])
                expect(await status(good), `${[...good].length}`).to.equal(201);
            for (const bad of ['x'.repeat(19), 'x'.repeat(4001), '😀'.repeat(19), '', ' '.repeat(40), `${'x'.repeat(19)}   `, 7, null])
                expect(await status(bad), JSON.stringify(bad).slice(0, 60)).to.equal(400);
        });

        it('is refused with every problem at once, the shape before the domain', async () => {
            const refused = await ask(ada, {
                domain: 'localhost',
                read_or_write: 'both',
                auth_shape: 7,
                intent_category: 'commerce/nothing',
                frequency: 'yearly',
                source_url: 'two\nlines',
                requester_contact: '',
                priority: 'high',
            });
            expect([refused.status, codeOf(refused)]).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(detailsOf(refused)).to.include.members([
                '/task REQUIRED',
                '/read_or_write INVALID_VALUE',
                '/intent_category UNKNOWN_CATEGORY',
                '/frequency INVALID_VALUE',
                '/source_url INVALID_VALUE',
                '/requester_contact INVALID_VALUE',
                '/priority UNKNOWN_FIELD',
            ]);
            expect(detailsOf(refused).filter((detail) => detail.startsWith('/auth_shape'))).to.deep.equal(['/auth_shape INVALID_VALUE']);
            for (const domain of ['localhost', '10.0.0.1', 'https://shop.test', 'com', 'a_b.test', 'shop.test:80', 'x@shop.test'])
                expect(codeOf(await ask(ada, { domain, task: TASK })), domain).to.equal('INVALID_DOMAIN');
            for (const domain of ['shop.example', 'a.github.io', 'github.io', 'bücher.test'])
                expect((await ask(ada, { domain, task: TASK })).status, domain).to.equal(201);
            for (const body of [[], '"text"', null, 7])
                expect(codeOf(await ask(ada, body as object)), `${body}`).to.equal('VALIDATION_ERROR');
        });

        it('is refused if any text looks like a secret, without repeating it', async () => {
            const secrets = [
                `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`,
                'Cookie: session_id=8f3aa9c1d2e4b5',
                `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'}`,
                'password=hunter2hunter2',
                'session=8f7e6d5c4b3a29180716253443526170 in the cookie jar',
                'my api key is 9f8e7d6c5b4a39281706f5e4d3c2b1a0',
                'Authorization: Bearer abcdefghijklmnop',
                `https://ada:${'s3cretpassw0rd'}@shop.test/`,
            ];
            for (const secret of secrets) {
                for (const field of ['task', 'output_shape', 'failure_mode', 'source_url', 'requester_contact']) {
                    const refused = await ask(ada, { domain: newSite(), task: TASK, [field]: `This one works today: ${secret} ok` });
                    expect([refused.status, codeOf(refused)], field).to.deep.equal([400, 'VALIDATION_ERROR']);
                    expect(detailsOf(refused)).to.deep.equal([`/${field} SECRET_DETECTED`]);
                    expect(JSON.stringify(refused.body)).not.to.include(secret.slice(-12));
                }
            }
            expect(JSON.stringify(world.logged)).not.to.include('hunter2hunter2');
        });

        it('is accepted 30 times an hour from one account, over all its keys and processes, and says so', async () => {
            const asker = await join(world);
            const order = () => ({ domain: newSite(), task: TASK });
            const more = await createKey(world.app.db, { workspaceId: asker.workspaceId, userId: asker.userId, name: 'more' });
            const persons = [asker, withKey(world, more.apiKey)];
            for (let turn = 0; turn < 30; turn++) {
                const base = turn % 3 === 0 ? other : world.base;
                const answer = await persons[turn % 2]?.call('POST', '/v1/schema-requests', { body: order(), base });
                expect(answer?.status, `${turn}`).to.equal(201);
            }
            for (const person of persons) {
                const refused = await ask(person, order());
                expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
                expect((refused.body['error'] as { message: string }).message).to.include('30 schema requests per hour');
                expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
            }
            expect((await ask(stranger(world), order(), passerBy())).status, 'strangers have a window of their own').to.equal(201);
            expect((await ask(await join(world), order())).status, 'and so do others').to.equal(201);
        });

        it('links to web pages only: no link that would run in a reader’s browser', async () => {
            const bad = [
                'javascript:alert(1)',
                'JavaScript:alert(1)//http://a.test',
                'data:text/html,x',
                'file:///etc/passwd',
                'ftp://shop.test/',
                '//shop.test',
                'shop.test/a',
                'http://',
                'https:///path',
                'http://[',
                '',
            ];
            for (const url of bad) {
                const refused = await ask(ada, { domain: newSite(), task: TASK, source_url: url });
                expect([refused.status, codeOf(refused)], url).to.deep.equal([400, 'VALIDATION_ERROR']);
                expect(detailsOf(refused), url).to.deep.equal(['/source_url INVALID_VALUE']);
            }
            for (const url of ['http://shop.test', ' HTTPS://shop.test/a?b=c#d ', `https://shop.test/${'x'.repeat(2000)}`])
                expect((await ask(ada, { domain: newSite(), task: TASK, source_url: url })).status, url).to.equal(201);
        });

        it('is accepted five times an hour from one address without a key, for any domains, and names the window', async () => {
            const headers = { 'x-forwarded-for': '2001:db8:1:2::1' };
            const sameHousehold = { 'x-forwarded-for': '2001:db8:1:2:ffff::9' };
            const order = () => ({ domain: newSite(), task: TASK });
            const anybody = stranger(world);
            for (const bad of [{}, { ...order(), task: 'short' }, { domain: 'localhost', task: TASK }])
                expect((await ask(anybody, bad, headers)).status).to.equal(400);
            const answers = await Promise.all(
                Array.from({ length: 12 }, (_, index) =>
                    anybody.call('POST', '/v1/schema-requests', {
                        body: order(),
                        headers: index % 2 === 0 ? headers : sameHousehold,
                        base: index % 3 === 0 ? other : world.base,
                    }),
                ),
            );
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([...Array(5).fill(201), ...Array(7).fill(429)]);
            const refused = answers.find(({ status }) => status === 429);
            if (refused === undefined) throw new Error('none was refused');
            expect(codeOf(refused)).to.equal('RATE_LIMITED');
            expect((refused.body['error'] as { message: string }).message).to.include('5 schema requests per hour');
            expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
            expect((await ask(ada, order(), headers)).status, 'with a key').to.equal(201);
            expect((await ask(anybody, order(), passerBy())).status, 'from elsewhere').to.equal(201);
            await world.clock.advance({ seconds: Number(refused.headers.get('retry-after')) });
            expect((await ask(anybody, order(), headers)).status, 'an hour later').to.equal(201);
        });

        it('is accepted 500 times an hour from one network without a key, however many addresses it has', async () => {
            const from = (network: number, address: number) =>
                ask(stranger(world), { domain: newSite(), task: TASK }, { 'x-forwarded-for': `2001:db8:${network}:${address}::1` });
            for (let address = 0; address < 100; address++)
                for (const answer of await Promise.all(Array.from({ length: 5 }, () => from(11, address)))) created(answer);
            const refused = await from(11, 100);
            expect(codeOf(refused)).to.equal('RATE_LIMITED');
            expect(refused.text).to.include('from one network');
            created(await from(12, 100));
        });

        it('is stored once if sent 50 times at once with one Idempotency-Key over two processes', async () => {
            const domain = newSite();
            const answers = await Promise.all(
                Array.from({ length: 50 }, (_, index) =>
                    ada.call('POST', '/v1/schema-requests', {
                        body: { domain, task: TASK },
                        headers: { 'idempotency-key': `once-${domain}` },
                        base: index % 2 === 0 ? other : world.base,
                    }),
                ),
            );
            const ids = new Set<string>();
            for (const answer of answers) {
                if (answer.status === 201) ids.add(created(answer).request_id);
                else expect(codeOf(answer)).to.equal('IDEMPOTENCY_IN_PROGRESS');
            }
            expect(ids.size).to.equal(1);
            const again = await ask(ada, { task: TASK, domain }, { 'idempotency-key': `once-${domain}` });
            expect(again.headers.get('idempotent-replayed')).to.equal('true');
            expect(again.headers.get('location')).to.equal(`/v1/schema-requests/${[...ids][0]}`);
            expect(created(again)).to.deep.include({ request_id: [...ids][0], demand: 1 });
            const conflict = await ask(ada, { domain, task: `${TASK} Now.` }, { 'idempotency-key': `once-${domain}` });
            expect([conflict.status, codeOf(conflict)]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
            expect((await seen([...ids][0] ?? '')).demand).to.equal(1);
        });

        it('has Idempotency-Keys for each workspace, ignores them without an API key, and frees the key of a refused call', async () => {
            const domain = newSite();
            const headers = { 'idempotency-key': 'mine' };
            const bob = await join(world);
            const body = { domain, task: TASK };
            const ids = [await ask(ada, body, headers), await ask(bob, body, headers)].map((answer) => created(answer).request_id);
            for (let time = 0; time < 2; time++)
                ids.push(created(await ask(stranger(world), body, { ...headers, ...passerBy() })).request_id);
            expect(new Set(ids).size).to.equal(4);
            expect(codeOf(await ask(ada, { ...body, task: 'short' }, { 'idempotency-key': 'second' }))).to.equal('VALIDATION_ERROR');
            expect((await ask(ada, body, { 'idempotency-key': 'second' })).status).to.equal(201);
            expect(codeOf(await ask(ada, body, { 'idempotency-key': 'has space' }))).to.equal('INVALID_IDEMPOTENCY_KEY');
        });

        it('is refused with one more key if the workspace stores too much, without headers of unrelated windows', async () => {
            const eve = await join(world);
            const full = 256 * 1024 * 1024;
            await world.app.db.raw('insert into idempotency_bytes (workspace_id, bytes) values (?, ?)', [eve.workspaceId, full]);
            await world.app.db.raw(
                `insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, status, size, running_until, expires_at)
                 values (?, 'postFetch', 'large', '', 'op_1', 200, ?, app_now(), app_now() + interval '1 hour')`,
                [eve.workspaceId, full],
            );
            const refused = await ask(eve, { domain: newSite(), task: TASK }, { 'idempotency-key': 'small' });
            expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        });

        it('takes over the Idempotency-Key of a process that died before storing the request', async () => {
            const domain = newSite();
            const body = { domain, task: TASK };
            const hash = createHash('sha256').update(`{"domain":"${domain}","task":"${TASK}"}`).digest();
            await world.app.db.raw(
                `insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, running_until, expires_at)
                 values (?, 'postSchemaRequest', 'orphan', ?, 'op_ofTheDead', app_now() - interval '1 second', app_now() + interval '1 hour')`,
                [ada.workspaceId, hash],
            );
            const answers = [await ask(ada, body, { 'idempotency-key': 'orphan' }), await ask(ada, body, { 'idempotency-key': 'orphan' })];
            expect(answers.map(({ status }) => status)).to.deep.equal([201, 201]);
            expect(created(answers[1] as Answer)).to.deep.equal(created(answers[0] as Answer));
            expect(created(answers[0] as Answer).demand).to.equal(1);
        });

        it('is REQUEST_NOT_FOUND for an unknown id', async () => {
            for (const id of [newId('srq'), 'srq_', 'x', 'a%00b', '..%2f', "'", ada.workspaceId, '%E2%80%AE', 'srq_'.padEnd(2000, 'x')]) {
                const refused = await read(id);
                expect([refused.status, codeOf(refused)], id.slice(0, 40)).to.deep.equal([404, 'REQUEST_NOT_FOUND']);
            }
            expect(codeOf(await read(newId('srq'), await join(world)))).to.equal('REQUEST_NOT_FOUND');
        });

        it('is fulfilled by the next version of the site if open or in progress, and names the version', async () => {
            const site = newSite();
            const order = { domain: site, task: TASK };
            const [open, begun] = [created(await ask(ada, order)).request_id, created(await ask(ada, order)).request_id];
            await setStatus(begun, 'in_progress');
            dataOf(await ada.publish(aPackage(site), '?dry_run=true'));
            expect(codeOf(await ada.publish(aPackage(site, { title: '' })))).to.equal('SCHEMA_INVALID');
            expect((await seen(open)).status).to.equal('open');
            dataOf(await ada.publish(aPackage(site)));
            for (const [id, states] of [
                [open, ['open', 'fulfilled']],
                [begun, ['open', 'in_progress', 'fulfilled']],
            ] as const) {
                const request = await seen(id);
                expect(request).to.deep.include({ status: 'fulfilled', fulfilled_by: { site, version: 1 }, demand: 0 });
                expect(request.history.map(({ status }) => status)).to.deep.equal(states);
                expect(request.history.at(-1)?.at).to.equal(request.updated_at);
            }
            // A request for something that the schema lacks.
            const again = created(await ask(ada, order));
            expect(again).to.include({ status: 'open', demand: 1 });
            dataOf(await ada.publish(aPackage(site)));
            expect((await seen(again.request_id)).status, 'the same content is no new version').to.equal('open');
            dataOf(await ada.publish(aPackage(site, { title: 'Better' })));
            expect(await seen(again.request_id)).to.deep.include({ status: 'fulfilled', fulfilled_by: { site, version: 2 } });
            expect((await seen(open)).fulfilled_by).to.deep.equal({ site, version: 1 });
        });

        it('is moved forward by the operator, each step in the audit, and never back', async () => {
            const { request_id: id } = created(await ask(ada, { domain: newSite(), task: TASK }));
            expect(await setStatus(id, 'in_progress')).to.deep.equal({ request_id: id, status: 'in_progress' });
            expect(await setStatus(id, 'in_progress')).to.deep.equal({ request_id: id, status: 'in_progress' });
            expect(await setStatus(id, 'declined')).to.deep.equal({ request_id: id, status: 'declined' });
            for (const back of ['open', 'in_progress', 'fulfilled'])
                expect(await setStatus(id, back)).to.have.nested.property('error.code', 'VALIDATION_ERROR');
            expect(await setStatus(newId('srq'), 'declined')).to.have.nested.property('error.code', 'REQUEST_NOT_FOUND');
            expect((await seen(id)).history.map(({ status }) => status)).to.deep.equal(['open', 'in_progress', 'declined']);
            const { rows } = await world.app.db.raw(
                "select before, after from audit where command = 'request set' and target = ? order by id",
                [id],
            );
            expect(rows).to.deep.equal([
                { before: { status: 'open' }, after: { status: 'in_progress' } },
                { before: { status: 'in_progress' }, after: { status: 'in_progress' } },
                { before: { status: 'in_progress' }, after: { status: 'declined' } },
            ]);
        });

        async function setStatus(id: string, status: string): Promise<unknown> {
            return (await admin(world.databaseUrl, ['request', 'set', id, '--status', status, '--json'])).json;
        }
    });
}
