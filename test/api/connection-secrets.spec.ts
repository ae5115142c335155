import { expect } from 'chai';
import type { PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';
import { API, expectNowhere, HEADER, idOf, OTHER, SITE, useConnectionWorld, VALUE } from '../support/connection-world.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`the secret of a connection, over ${topology}`, () => {
        const { world, site, owner, at, endpoint, publish, connect, forgetAll, connectOnly } = useConnectionWorld(topology);

        const encodings: [
            entry: PackageAuth,
            secret: object,
            sent: (path: string, headers: Record<string, unknown>) => unknown,
            expected: string,
        ][] = [
            [HEADER, { value: VALUE }, (_path, headers) => headers['x-api-key'], VALUE],
            [
                { ...HEADER, name: 'Authorization', prefix: 'token ' },
                { value: VALUE },
                (_path, headers) => headers['authorization'],
                `token ${VALUE}`,
            ],
            [
                { id: 'key', type: 'bearer', hosts: [API] },
                { value: VALUE },
                (_path, headers) => headers['authorization'],
                `Bearer ${VALUE}`,
            ],
            [
                { id: 'key', type: 'basic', hosts: [API] },
                { username: 'ada', password: VALUE },
                (_path, headers) => headers['authorization'],
                `Basic ${Buffer.from(`ada:${VALUE}`).toString('base64')}`,
            ],
            [
                { id: 'key', type: 'query', name: 'api_key', hosts: [API] },
                { value: VALUE },
                (path) => new URL(path, 'http://x').searchParams.get('api_key'),
                VALUE,
            ],
            [
                { id: 'key', type: 'cookie', name: 'sid', hosts: [API] },
                { value: 'abcdefgh-1234' },
                (_path, headers) => headers['cookie'],
                'sid=abcdefgh-1234',
            ],
        ];
        for (const [entry, secret, sent, expected] of encodings) {
            it(`reaches the site as ${entry.type}${entry.prefix === undefined ? '' : ' with a prefix'}, and the caller sees ••• instead`, async () => {
                await connectOnly(entry, secret);
                const answer = await owner.fetch(SITE, 'echo');
                expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
                const seen = site.seen.at(-1);
                expect(sent(seen?.path ?? '', seen?.headers ?? {})).to.equal(expected);
                expect(answer.text).not.to.include(VALUE).and.not.to.include(expected);
                expect(answer.text).to.include('•••');
                const dry = await owner.fetch(SITE, 'echo', {}, { dry_run: true });
                expect(JSON.stringify(dataOf(dry)))
                    .to.include('•••')
                    .and.not.to.include(expected);
            });
        }

        it('is never sent by a step of prepare, in whatever form a page repeats it', async () => {
            const step = (path: string, extract: object) => ({ url: at(API, path), extract }) as NonNullable<PackageEndpoint['prepare']>;
            const elsewhere = at(API, '/echo?t={prepare.t}');
            await forgetAll();
            await publish(
                [HEADER],
                [
                    endpoint('by_meta', elsewhere, 'required', {
                        prepare: step('/page-meta', { t: { selector: 'meta', value: 'content' } }),
                    }),
                    endpoint('by_cookie', elsewhere, 'required', { prepare: step('/page-cookie', { t: { cookie: 't' } }) }),
                ],
            );
            idOf(await connect(owner));
            for (const name of ['by_meta', 'by_cookie']) {
                const from = site.seen.length;
                const answer = await owner.fetch(SITE, name);
                expect(codeOf(answer), name).to.equal('UPSTREAM_INVALID_RESPONSE');
                expect(JSON.stringify(answer.body), name).to.include('holds the credential').and.not.include(VALUE);
                expect(site.seen.slice(from).map(({ path }) => path.split('?')[0])).to.deep.equal([
                    name === 'by_meta' ? '/page-meta' : '/page-cookie',
                ]);
            }
        });

        describe('with one header', () => {
            let id: string;
            before(async () => {
                id = await connectOnly();
            });

            it('is shown by no route, except for its last four characters', async () => {
                const answers = [
                    await owner.call('GET', '/v1/connections'),
                    await owner.call('GET', `/v1/connections/${id}`),
                    await owner.call('GET', '/v1/audit'),
                ];
                for (const answer of answers) expect(answer.text).not.to.include(VALUE.slice(0, 8));
                expect(dataOf(answers[1] as Answer)).to.include({ hint: '…e=42', type: 'header', shared: false, owner: owner.userId });
            });

            it('is masked in a response in every encoding', async () => {
                const forms = dataOf<{ forms: string[] }>(await owner.fetch(SITE, 'forms')).forms;
                expect(forms).to.deep.equal(['•••', '•••', '•••', '•••']);
                expect(dataOf(await owner.fetch(SITE, 'escaped'))).to.deep.equal({ text: '•••' });
            });

            it('is not sent on a redirect to another host, and is masked in URLs that repeat it', async () => {
                const from = site.seen.length;
                dataOf(await owner.fetch(SITE, 'redirect', { to: at(OTHER, `/echo?page=2&back=${encodeURIComponent(VALUE)}`) }));
                dataOf(await owner.fetch(SITE, 'redirect', { to: at(API, '/echo') }));
                const [, other, , same] = site.seen.slice(from);
                expect([other?.path, other?.headers['x-api-key']]).to.deep.equal(['/echo?page=2', undefined]);
                expect(same?.headers['x-api-key']).to.equal(VALUE);
                const inPath = await owner.fetch(SITE, 'redirect', { to: at(OTHER, `/${encodeURIComponent(VALUE)}`) });
                expect(codeOf(inPath)).to.equal('UPSTREAM_REDIRECT');
                expect(site.seen.at(-1)?.path).to.match(/^\/redirect/);
            });

            it('is masked in JSON escapes of an error response', async () => {
                const refused = await owner.fetch(SITE, 'refuse_escaped');
                expect(codeOf(refused)).to.equal('UPSTREAM_UNAUTHORIZED');
                expect(refused.text).to.include('•••').and.not.to.include('u0073');
            });

            it('is not sent in raw UTF-8 of a redirect to another host', async () => {
                const query: PackageAuth = { id: 'query', type: 'query', name: 'key', hosts: [API] };
                await publish([HEADER, query]);
                const unknown = await connect(owner, { value: VALUE }, { auth_id: 'cookie' });
                expect(unknown.text).to.include('Unknown auth_id. Choose one of: key, query.');
                const two = idOf(await connect(owner, { value: 'schlüssel-für-alle' }, { auth_id: 'query' }));
                const answer = await owner.fetch(SITE, 'raw_redirect', {}, { connection: two });
                expect(answer.status, answer.text).to.equal(200);
                expect(site.seen.at(-1)?.path).to.equal('/echo?page=2');
                dataOf(await owner.call('DELETE', `/v1/connections/${two}`));
                await publish([HEADER]);
            });
        });

        describe('in logs, tables, responses and errors', () => {
            it('never appears, in any encoding', () => expectNowhere(world));

            it('is refused while the key of its workspace is missing, and the operator learns which', async () => {
                await forgetAll();
                await publish([HEADER]);
                const eve = await join(world, { plan: 'pro' });
                dataOf(await connect(eve));
                await world.app
                    .db('connection_keys')
                    .where({ workspace_id: eve.workspaceId })
                    .update({ sealed: Buffer.alloc(80) });
                const answer = await connect(eve, { value: 'another-value' });
                expect([answer.status, codeOf(answer), answer.headers.get('retry-after')]).to.deep.equal([
                    503,
                    'SERVICE_UNAVAILABLE',
                    '60',
                ]);
                expect(world.logged.some(({ message }) => String(message).includes(`the data key of ${eve.workspaceId}`))).to.equal(true);
            });

            it('makes calls SERVICE_UNAVAILABLE while the key of its workspace is damaged, since another connection would not help', async () => {
                await forgetAll();
                await publish([HEADER]);
                const eve = await join(world, { plan: 'pro' });
                dataOf(await connect(eve));
                const keys = world.app.db('connection_keys').where({ workspace_id: eve.workspaceId });
                const { sealed } = await keys.clone().first('sealed');
                await keys.clone().update({ sealed: Buffer.alloc(80) });
                const fetched = () => eve.fetch(SITE, 'echo');
                await eventually(fetched, (answer) => codeOf(answer) === 'SERVICE_UNAVAILABLE');
                await keys.clone().update({ sealed });
                await eventually(fetched, (answer) => answer.status === 200);
            });

            it('can be decrypted in no other row', async () => {
                await forgetAll();
                await publish([HEADER]);
                const [mine, theirs] = [owner, await join(world, { plan: 'pro' })];
                const id = idOf(await connect(mine));
                dataOf(await connect(theirs, { value: 'another-value' }));
                await world.app.db('connections').where({ id }).update({ workspace_id: theirs.workspaceId, owner_id: theirs.userId });
                const keys = () => world.app.db('connection_keys');
                const { sealed } = await keys().where({ workspace_id: mine.workspaceId }).first('sealed');
                await keys().where({ workspace_id: theirs.workspaceId }).update({ sealed });
                const from = site.seen.length;
                const answer = await theirs.fetch(SITE, 'echo', {}, { connection: id });
                expect([codeOf(answer), site.seen.length]).to.deep.equal(['CONNECTION_REQUIRED', from]);
            });
        });
    });
}
