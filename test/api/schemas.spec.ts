import { expect } from 'chai';
import type { Card, DownloadedPackage, PublishAnswer } from '../../shared/contracts/schemas.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { versionHash } from '../../shared/domain/version-hash.ts';
import { createKey } from '../../shared/store/keys.ts';
import { yank } from '../../shared/store/schemas.ts';
import * as sites from '../../shared/store/sites.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

describe('publishing a schema', () => {
    let world: World;
    let maker: Person;
    let number = 0;

    before(async () => {
        world = await openWorld({ workers: 0 });
        maker = await join(world, { plan: 'enterprise' });
    });
    after(() => world.close());

    const newSite = () => `shop${++number}.test`;
    const published = (answer: Answer) => dataOf(answer) as unknown as PublishAnswer;
    const packageOf = async (site: string, query = '') =>
        dataOf(await stranger(world).call('GET', `/v1/schemas/${site}/package${query}`)) as unknown as DownloadedPackage;
    const cardOf = async (site: string) => dataOf(await stranger(world).call('GET', `/v1/schemas/${site}`)) as unknown as Card;
    const balanceOf = async (person: Person) =>
        dataOf<{ credits: { balance: number } }>(await person.call('GET', '/v1/account')).credits.balance;

    it('makes version 1 at once, and says where it is', async () => {
        const site = newSite();
        const document = aPackage(site);
        const answer = await maker.publish(document);
        expect(answer.status).to.equal(201);
        const result = published(answer);
        expect(result).to.deep.include({
            site,
            version: 1,
            version_hash: versionHash(document),
            created: true,
            change: 'major',
            changes: { added: ['product'], removed: [], changed: [] },
            verified: false,
        });
        const location = await stranger(world).call('GET', answer.headers.get('location') ?? '');
        expect(dataOf(location)).to.deep.equal({
            ...document,
            version: 1,
            version_hash: result.version_hash,
            published_at: result.published_at,
        });
    });

    it('of the same content, in any order of keys, answers 200 with the same version', async () => {
        const site = newSite();
        const document = aPackage(site);
        const first = published(await maker.publish(document));
        const again = await maker.publish(Object.fromEntries(Object.entries(document).reverse()));
        expect(again.status).to.equal(200);
        expect(again.headers.get('location')).to.equal(null);
        expect(published(again)).to.deep.include({
            version: 1,
            version_hash: first.version_hash,
            created: false,
            published_at: first.published_at,
        });
    });

    it('keeps the package as it was sent, its site in the one spelling', async () => {
        const site = newSite();
        const document = { ...aPackage(site), title: 'Größe 😀 \u2028', description: 'one\r\ntwo\tthree' };
        published(await maker.publish({ ...document, site: ` WWW.${site.toUpperCase()}. ` }));
        const { version: _version, version_hash: hash, published_at: _at, ...kept } = await packageOf(site);
        expect(kept).to.deep.equal({ ...document, description: 'one\ntwo\tthree' });
        expect(Object.keys(kept)).to.deep.equal(Object.keys(document));
        expect(hash).to.equal(versionHash(kept as PackageDocument));
    });

    it('warns where nothing could ever be verified', async () => {
        const site = newSite();
        expect(published(await maker.publish(aPackage(site))).warnings.map(({ code }) => code)).to.include('NO_EXAMPLES');
        const withExample = aPackage(site, { endpoints: [anEndpoint(site, { examples: [{ params: { id: 1 } }] })] });
        expect(published(await maker.publish(withExample)).warnings.map(({ code }) => code)).not.to.include('NO_EXAMPLES');
    });

    it('computes what the change means, from patch to major', async () => {
        const site = newSite();
        const product = anEndpoint(site);
        const search = anEndpoint(site, {
            name: 'search',
            kind: 'search',
            url: `https://${site}/search`,
            params: [{ name: 'q', source: 'query', required: true }],
        });
        published(await maker.publish(aPackage(site, { endpoints: [product] })));
        const steps: [string, PackageDocument, string, PublishAnswer['changes']][] = [
            ['another title', aPackage(site, { endpoints: [product], title: 'New' }), 'patch', { added: [], removed: [], changed: [] }],
            [
                'an endpoint more',
                aPackage(site, { endpoints: [product, search] }),
                'minor',
                { added: ['search'], removed: [], changed: [] },
            ],
            [
                'a text changed',
                aPackage(site, { endpoints: [{ ...product, description: 'Better said.' }, search] }),
                'patch',
                { added: [], removed: [], changed: ['product'] },
            ],
            [
                'a dearer bill',
                aPackage(site, { endpoints: [product, { ...search, billing: { unit: 'result', max_results: 9 } }] }),
                'major',
                { added: [], removed: [], changed: ['product', 'search'] },
            ],
            ['an endpoint less', aPackage(site, { endpoints: [product] }), 'major', { added: [], removed: ['search'], changed: [] }],
        ];
        for (const [index, [what, document, change, changes]] of steps.entries()) {
            expect(published(await maker.publish(document)), what).to.deep.include({ version: index + 2, change, changes });
        }
    });

    it('with dry_run tells the same and stores nothing', async () => {
        const site = newSite();
        const document = aPackage(site);
        const tried = await maker.publish(document, '?dry_run=true');
        expect(tried.status).to.equal(200);
        expect(published(tried)).to.deep.include({
            version: 1,
            created: false,
            version_hash: versionHash(document),
            change: 'major',
            published_at: null,
            credits_earned: 0,
        });
        expect(codeOf(await stranger(world).call('GET', `/v1/schemas/${site}`))).to.equal('SITE_NOT_FOUND');
        published(await maker.publish(document));
        expect(published(await maker.publish({ ...document, title: 'New' }, '?dry_run=true'))).to.deep.include({
            version: 2,
            created: false,
            change: 'patch',
        });
        expect((await cardOf(site)).version).to.equal(1);
        expect(codeOf(await maker.publish({ ...document, title: '' }, '?dry_run=true'))).to.equal('SCHEMA_INVALID');
        const other = await join(world);
        expect(codeOf(await other.publish({ ...document, title: 'Theirs' }, '?dry_run=true'))).to.equal('NOT_MAINTAINER');
        expect(published(await maker.publish(document, '?dry_run=false')).created).to.equal(false);
        expect(codeOf(await maker.publish(document, '?dry_run=maybe'))).to.equal('VALIDATION_ERROR');
    });

    it('guards against a lost update by If-Match', async () => {
        const site = newSite();
        const put = (title: string, ifMatch: string) =>
            maker.call('POST', '/v1/schemas', { body: aPackage(site, { title }), headers: { 'if-match': ifMatch } });
        expect(codeOf(await put('One', '*'))).to.equal('VERSION_CONFLICT');
        const first = published(await maker.publish(aPackage(site)));
        const second = published(await put('Two', `"${first.version_hash}"`));
        expect(second.version).to.equal(2);
        const late = await put('Three', `"${first.version_hash}"`);
        expect([late.status, codeOf(late)]).to.deep.equal([409, 'VERSION_CONFLICT']);
        expect((late.body['error'] as { message: string }).message).to.include(second.version_hash);
        expect(published(await put('Three', '*')).version).to.equal(3);
        for (const bad of [first.version_hash, '"x"', `"${'G'.repeat(64)}"`, ''])
            expect(codeOf(await put('Four', bad)), bad).to.equal('VALIDATION_ERROR');
    });

    it('belongs to the first workspace of the registrable domain and to those it adds', async () => {
        const site = newSite();
        published(await maker.publish(aPackage(`api.${site}`)));
        const other = await join(world);
        for (const name of [site, `api.${site}`, `new.${site}`]) {
            const refused = await other.publish(aPackage(name, { title: 'Theirs' }));
            expect([refused.status, codeOf(refused)], name).to.deep.equal([403, 'NOT_MAINTAINER']);
        }
        await sites.addMaintainer(world.app.db, site, other.workspaceId);
        expect(published(await other.publish(aPackage(`new.${site}`))).version).to.equal(1);
        const { rows } = await world.app.db.raw('select name from workspaces where id = ?', [maker.workspaceId]);
        expect((await cardOf(`api.${site}`)).maintainer).to.equal(rows[0].name);
    });

    it('on a blocked domain is SITE_BLOCKED, for a dry run too', async () => {
        const site = newSite();
        published(await maker.publish(aPackage(site)));
        await sites.blockDomain(world.app.db, site, 'asked to');
        for (const query of ['', '?dry_run=true']) {
            const refused = await maker.publish(aPackage(`sub.${site}`), query);
            expect([refused.status, codeOf(refused)]).to.deep.equal([403, 'SITE_BLOCKED']);
        }
        await sites.unblockDomain(world.app.db, site);
        expect((await maker.publish(aPackage(site, { title: 'Back' }))).status).to.equal(201);
    });

    it('earns 50 credits once per registrable domain, whoever publishes, and ten times a month at the most', async () => {
        const author = await join(world);
        const start = await balanceOf(author);
        const site = newSite();
        expect(published(await author.publish(aPackage(site))).credits_earned).to.equal(50);
        for (const again of [aPackage(site, { title: 'Second' }), aPackage(`api.${site}`)]) {
            expect(published(await author.publish(again)).credits_earned).to.equal(0);
        }
        expect(await balanceOf(author)).to.equal(start + 50);
        const earned: number[] = [];
        for (let count = 0; count < 10; count++) {
            const { credits_earned: credits, warnings } = published(await author.publish(aPackage(newSite())));
            earned.push(credits);
            if (credits === 0) expect(warnings.map(({ code }) => code)).to.include('BONUS_USED_UP');
        }
        expect(earned).to.deep.equal([...Array(9).fill(50), 0]);
        expect(await balanceOf(author)).to.equal(start + 500);
    });

    it('is guarded: 60 new versions an hour, of which unchanged ones and dry runs do not count', async () => {
        const author = await join(world);
        const site = newSite();
        for (let count = 1; count <= 60; count++)
            expect((await author.publish(aPackage(site, { title: `Title ${count}` }))).status).to.equal(201);
        const refused = await author.publish(aPackage(site, { title: 'One too many' }));
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(3500, 3600);
        expect((await author.publish(aPackage(site, { title: 'Title 60' }))).status).to.equal(200);
        expect((await author.publish(aPackage(site, { title: 'Tried' }), '?dry_run=true')).status).to.equal(200);
        await world.clock.advance({ seconds: Number(refused.headers.get('retry-after')) });
        expect((await author.publish(aPackage(site, { title: 'One too many' }))).status).to.equal(201);
    }).timeout(20_000);

    it('is guarded: 20 new sites a day', async () => {
        const author = await join(world);
        for (let count = 1; count <= 20; count++) expect((await author.publish(aPackage(newSite()))).status).to.equal(201);
        const refused = await author.publish(aPackage(newSite()));
        expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(86_000, 86_400);
        expect((await maker.publish(aPackage(newSite()))).status).to.equal(201);
    });

    describe('a bad package', () => {
        const site = 'good.test';
        const good = aPackage(site, {
            endpoints: [
                anEndpoint(site, {
                    headers: { accept: 'application/json' },
                    hosted: true,
                    effect: 'read',
                    response: { type: 'json', select: { id: 'id' }, schema: { type: 'object' } },
                    billing: { unit: 'request' },
                    examples: [{ params: { id: 1 } }],
                }),
                anEndpoint(site, {
                    name: 'list',
                    kind: 'paginate',
                    url: `https://${site}/list`,
                    params: [{ name: 'page', source: 'query', required: false, default: 1, example: 2 }],
                    response: { select: { items: 'rows' } },
                    pagination: { style: 'page', param: 'page', start: 1, step: 1, max_pages: 3 },
                }),
            ],
        });

        it('is refused in every way in which one value can have the wrong type, with a pointer to it, and nothing is stored', async () => {
            const stored = published(await maker.publish(good));
            let tried = 0;
            for (const { pointer, mutant } of mutantsOf(good)) {
                const refused = await maker.publish(mutant);
                tried++;
                expect([refused.status, codeOf(refused)], `${pointer} ${JSON.stringify(mutant)}`).to.deep.equal([422, 'SCHEMA_INVALID']);
                const paths = detailsOf(refused).map((detail) => detail.split(' ')[0] ?? '');
                expect(
                    paths.some((path) => path.startsWith(pointer) || pointer.startsWith(path)),
                    `${pointer}: ${paths}`,
                ).to.equal(true);
            }
            expect(tried).to.be.greaterThan(100);
            expect((await cardOf(site)).version).to.equal(stored.version);
            expect(published(await maker.publish({ ...good, title: 'Still fine' })).version).to.equal(stored.version + 1);
        }).timeout(20_000);

        it('is refused with every problem at once', async () => {
            const refused = await maker.publish({
                ...aPackage('localhost'),
                title: 7,
                intent_category: 'commerce/nothing',
                surprise: true,
                cookies: 'a=b',
                endpoints: [
                    anEndpoint('elsewhere.test', { name: 'Bad Name' }),
                    anEndpoint(site, { headers: { cookie: 'a=b', accept: 'Bearer 0123456789abcdefghij' } }),
                    anEndpoint(site),
                ],
            });
            expect(detailsOf(refused)).to.include.members([
                '/site INVALID_DOMAIN',
                '/title INVALID_TYPE',
                '/intent_category UNKNOWN_CATEGORY',
                '/surprise UNKNOWN_FIELD',
                '/cookies FORBIDDEN_FIELD',
                '/endpoints/0/name INVALID_VALUE',
                '/endpoints/1/headers/cookie FORBIDDEN_FIELD',
                '/endpoints/1/headers/accept SECRET_DETECTED',
                '/endpoints/2/name DUPLICATE_NAME',
            ]);
            expect(JSON.stringify(refused.body)).not.to.include('0123456789abcdefghij');
        });

        it('of text that breaks storage, of keys of prototypes, too deep or too large is refused inside the package with 422', async () => {
            const text = JSON.stringify(good);
            const bad = [
                text.replace('Example Shop', 'a\\u0000b'),
                text.replace('Example Shop', '\\ud800'),
                text.replace('Example Shop', '\\u0085'),
                text.replace('"title"', '"__proto__":{"a":1},"title"'),
                text.replace('"title"', '"constructor":{"prototype":{}},"title"'),
                text.replace('{"type":"object"}', `${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`),
                text.replace('{"type":"object"}', '{"$ref":"https://elsewhere.test/schema.json"}'),
                text.replace('{"type":"object"}', '{"type":"string","pattern":"("}'),
                JSON.stringify({ ...good, endpoints: Array.from({ length: 501 }, (_, index) => anEndpoint(site, { name: `e${index}` })) }),
            ];
            for (const body of bad) {
                const refused = await maker.publish(body as unknown as object);
                expect([refused.status, codeOf(refused)], body.slice(0, 200)).to.deep.equal([422, 'SCHEMA_INVALID']);
            }
            expect(({} as { a?: number }).a).to.equal(undefined);
        });
    });

    describe('by many at once', () => {
        it('with 16 keys of one workspace gives 16 packages the versions 1 to 16', async () => {
            const site = newSite();
            const keys = await Promise.all(
                Array.from({ length: 16 }, () =>
                    createKey(world.app.db, { workspaceId: maker.workspaceId, userId: maker.userId, name: 'ci' }),
                ),
            );
            const answers = await Promise.all(
                keys.map(({ apiKey }, index) => withKey(world, apiKey).publish(aPackage(site, { title: `Title ${index}` }))),
            );
            expect(answers.map(({ status }) => status)).to.deep.equal(Array(16).fill(201));
            const versions = answers.map((answer) => published(answer).version);
            expect(versions.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 16 }, (_, index) => index + 1));
            for (const answer of answers) {
                const { version, version_hash: hash } = published(answer);
                expect((await packageOf(site, `?version=${version}`)).version_hash).to.equal(hash);
            }
            expect((await cardOf(site)).version).to.equal(16);
        });

        it('with 16 workspaces on a new site lets one in, and makes nobody else its maintainer', async () => {
            const people = await Promise.all(Array.from({ length: 16 }, () => join(world)));
            const site = newSite();
            const answers = await Promise.all(people.map((person, index) => person.publish(aPackage(site, { title: `Title ${index}` }))));
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array(15).fill(403)]);
            expect(answers.filter((answer) => codeOf(answer) === 'NOT_MAINTAINER')).to.have.length(15);
            expect(await sites.listMaintainers(world.app.db, site)).to.have.length(1);
            expect((await cardOf(site)).version).to.equal(1);
        });

        it('with the same new package stores it once', async () => {
            const site = newSite();
            const answers = await Promise.all(Array.from({ length: 8 }, () => maker.publish(aPackage(site))));
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([...Array(7).fill(200), 201]);
            expect(answers.map((answer) => published(answer).version)).to.deep.equal(Array(8).fill(1));
        });

        it('with one If-Match lets one update through', async () => {
            const site = newSite();
            const { version_hash: hash } = published(await maker.publish(aPackage(site)));
            const answers = await Promise.all(
                Array.from({ length: 8 }, (_, index) =>
                    maker.call('POST', '/v1/schemas', {
                        body: aPackage(site, { title: `Title ${index}` }),
                        headers: { 'if-match': `"${hash}"` },
                    }),
                ),
            );
            expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array(7).fill(409)]);
        });
    });

    describe('makes a card and a package', () => {
        const site = 'read.test';
        let hashes: string[];

        before(async () => {
            hashes = [];
            for (const title of ['One', 'Two', 'Three']) {
                const search = anEndpoint(site, {
                    name: 'search',
                    kind: 'search',
                    url: `https://${site}/search`,
                    params: [],
                    hosted: false,
                });
                hashes.push(
                    published(
                        await maker.publish(
                            aPackage(site, { title, endpoints: [anEndpoint(site, { headers: { 'x-app': 'web' } }), search] }),
                        ),
                    ).version_hash,
                );
            }
        });

        it('of which the card shows neither URLs nor headers, and no address of a person', async () => {
            const card = await cardOf(site);
            expect(card).to.deep.include({
                site,
                title: 'Three',
                version: 3,
                version_hash: hashes[2],
                verified: false,
                verified_at: null,
                fetches_7d: 0,
            });
            expect(card.endpoints).to.deep.equal([
                { name: 'product', kind: 'api_call', method: 'GET', description: 'One product with its price.', hosted: true, credits: 1 },
                { name: 'search', kind: 'search', method: 'GET', description: 'One product with its price.', hosted: false, credits: 1 },
            ]);
            expect(JSON.stringify(card)).not.to.match(/https?:|x-app|@/);
        });

        it('of which the package is found by number, by hash and as the latest', async () => {
            for (const [query, title] of [
                ['', 'Three'],
                ['?version=1', 'One'],
                ['?version=2', 'Two'],
                [`?version=${hashes[0]}`, 'One'],
                [`?version=${hashes[2]}`, 'Three'],
            ]) {
                expect((await packageOf(site, query)).title, query).to.equal(title);
            }
        });

        it('and answers for what is not there', async () => {
            const ask = async (path: string) => codeOf(await stranger(world).call('GET', path));
            for (const version of ['4', '999999999', 'f'.repeat(64)])
                expect(await ask(`/v1/schemas/${site}/package?version=${version}`), version).to.equal('VERSION_NOT_FOUND');
            for (const version of ['0', '-1', '1.0', '1e1', '01', 'latest', '', '9999999999', 'F'.repeat(64), `${hashes[0]}0`]) {
                expect(await ask(`/v1/schemas/${site}/package?version=${version}`), version).to.equal('VALIDATION_ERROR');
            }
            const unlike = await stranger(world).call('GET', `/v1/schemas/${site}/package?version=latest`);
            expect(detailsOf(unlike)).to.deep.equal(['/version INVALID_VALUE']);
            for (const path of [
                '/v1/schemas/nowhere.test',
                '/v1/schemas/nowhere.test/package',
                '/v1/schemas/nowhere.test/package?version=1',
            ]) {
                expect(await ask(path), path).to.equal('SITE_NOT_FOUND');
            }
            for (const path of ['/v1/schemas/localhost', '/v1/schemas/10.0.0.1/package', '/v1/schemas/a%2Fb']) {
                expect(await ask(path), path).to.equal('INVALID_DOMAIN');
            }
        });

        it('of which a yanked version steps back as latest, and a legal one is gone', async () => {
            await yank(world.app.db, site, 3, 'broken');
            expect((await cardOf(site)).version).to.equal(2);
            expect((await packageOf(site)).version).to.equal(2);
            expect((await packageOf(site, '?version=3')).title).to.equal('Three');
            const look = await stranger(world).call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`);
            expect((look.body['schema'] as { version: number }).version).to.equal(2);

            await yank(world.app.db, site, 2, 'legal');
            expect((await packageOf(site)).version).to.equal(1);
            for (const query of ['?version=2', `?version=${hashes[1]}`]) {
                expect(codeOf(await stranger(world).call('GET', `/v1/schemas/${site}/package${query}`)), query).to.equal(
                    'VERSION_NOT_FOUND',
                );
            }

            await yank(world.app.db, site, 1, 'security');
            for (const path of [`/v1/schemas/${site}`, `/v1/schemas/${site}/package`]) {
                expect(codeOf(await stranger(world).call('GET', path)), path).to.equal('SITE_NOT_FOUND');
            }
            await eventually(
                async () => codeOf(await maker.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`)),
                (code) => code === 'SITE_NOT_FOUND',
            );
        });

        it('and what was yanked gets a new number when it comes again', async () => {
            const again = aPackage('again.test');
            published(await maker.publish(again));
            await yank(world.app.db, 'again.test', 1, 'broken');
            expect(published(await maker.publish(again))).to.include({ version: 2, created: true });
        });
    });
});

describe('publishing, whichever store counts', () => {
    for (const topology of TOPOLOGIES) {
        it(`is no counted call with counters in ${topology}`, async () => {
            const world = await openWorld({ topology, workers: 0 });
            try {
                const maker = await join(world);
                const answer = await maker.publish(aPackage('shop.test'));
                expect(answer.headers.has('ratelimit')).to.equal(false);
                const { limits } = dataOf<{ limits: { limit: number; remaining: number }[] }>(await maker.call('GET', '/v1/account'));
                for (const { limit, remaining } of limits) expect(remaining).to.equal(limit);
            } finally {
                await world.close();
            }
        });
    }
});

/** Every value of a package replaced by one of a type that its field cannot have, and every required field left out. */
function* mutantsOf(document: PackageDocument): Generator<{ pointer: string; mutant: object }> {
    const free = /\/(default|example|schema|params\/id)(\/|$)|\/select/;
    for (const { holder, key, pointer } of placesOf(document)) {
        if (free.test(pointer)) continue;
        const value = holder[key];
        const wrong = typeof value === 'object' ? ['text', 7, true] : [{}, [], { a: [] }];
        for (const replacement of wrong) {
            holder[key] = replacement;
            yield { pointer, mutant: structuredClone(document) };
        }
        holder[key] = value;
    }
    for (const field of ['format', 'site', 'title', 'intent_category', 'endpoints'] as const) {
        const { [field]: _left, ...mutant } = document;
        yield { pointer: `/${field}`, mutant };
    }
    for (const field of ['name', 'method', 'url'] as const) {
        const [first, ...rest] = document.endpoints;
        const { [field]: _left, ...endpoint } = first ?? anEndpoint('unused.test');
        yield { pointer: `/endpoints/0/${field}`, mutant: { ...document, endpoints: [endpoint, ...rest] } };
    }
}

interface Place {
    holder: Record<string, unknown>;
    key: string;
    pointer: string;
}

function placesOf(value: object, at = ''): Place[] {
    return Object.entries(value).flatMap(([key, child]) => {
        const place = { holder: value as Record<string, unknown>, key, pointer: `${at}/${key}` };
        return typeof child === 'object' && child !== null ? [place, ...placesOf(child, place.pointer)] : [place];
    });
}
