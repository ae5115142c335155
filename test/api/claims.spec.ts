import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { ClaimEntry } from '../../shared/contracts/claims.ts';
import type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { isOwner } from '../../shared/store/registry/ownership.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { inTurn } from '../support/in-turn.ts';
import { type NameServer, openNameServer } from '../support/name-server.ts';
import { type OwnerSites, openOwnerSites } from '../support/owner-sites.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const FILE = '/.well-known/routebook.txt';

for (const topology of ANY_TOPOLOGY) {
    describe(`a claim on a domain, over ${topology}`, () => {
        let world: World;
        let names: NameServer;
        let web: OwnerSites;
        let ada: Person;
        let number = 0;

        const hosts = new Map<string, string[]>();
        before(async () => {
            names = await openNameServer();
            for (let index = 1; index <= 60; index++)
                for (const host of [`own${index}.test`, `www.own${index}.test`, `other.own${index}.test`]) hosts.set(host, ['127.0.0.1']);
            for (const suffix of ['js.org', 'duckdns.org']) for (const host of [suffix, `www.${suffix}`]) hosts.set(host, ['127.0.0.1']);
            web = await openOwnerSites(hosts);
            world = await openWorld({
                topology,
                connector: web.connector,
                claimLookMs: 20,
                config: { egressHosts: hosts, claimResolvers: [names.resolver] },
            });
        });
        beforeEach(async () => {
            ada = await join(world);
        });
        after(async () => {
            await world.close();
            await Promise.all([names.close(), web.close()]);
        });

        const newDomain = () => `own${++number}.test`;
        const claim = async (by: Person, domain: string) =>
            dataOf<ClaimEntry>(await inTurn(() => by.call('POST', `/v1/sites/${domain}/claims`)));
        const check = (by: Person, { domain, claim_id: id }: Pick<ClaimEntry, 'domain' | 'claim_id'>) =>
            by.call('POST', `/v1/sites/${domain}/claims/${id}/check`);
        const checked = async (by: Person, made: ClaimEntry) => dataOf<{ status: string; reason: string | null }>(await check(by, made));
        const shown = async (by: Person, { domain, claim_id: id }: ClaimEntry) => {
            const listed = dataOf<ClaimEntry[]>(await by.call('GET', `/v1/sites/${domain}/claims`));
            return listed.find((one) => one.claim_id === id) as ClaimEntry;
        };
        const serveText = (host: string, text: string, more: (response: ServerResponse) => void = () => {}) =>
            web.hosts.set(host, ({ url }, response) => {
                if (url !== FILE) return void response.writeHead(404).end();
                more(response);
                response.end(text);
            });
        const proveByDns = async (by: Person, domain: string) => {
            const made = await claim(by, domain);
            const record = names.names.get(`_routebook.${domain}`);
            names.names.set(`_routebook.${domain}`, { txt: [...(record?.txt ?? []), made.value] });
            expect((await checked(by, made)).status).to.equal('proven');
            return made;
        };

        it('explains how to prove it, for the registrable domain only', async () => {
            const answer = await ada.call('POST', '/v1/sites/Shop.Claimed.co.uk/claims');
            expect(answer.status).to.equal(201);
            const made = dataOf<ClaimEntry>(answer);
            expect(made.value).to.match(/^routebook-claim=[0-9A-Za-z]{32}$/);
            expect(made).to.deep.include({
                domain: 'claimed.co.uk',
                status: 'pending',
                reason: null,
                methods: [{ dns: `_routebook.claimed.co.uk TXT ${made.value}` }, { url: `https://claimed.co.uk${FILE}` }],
                checked_at: null,
                proven_at: null,
            });
            const lasts = Date.parse(made.expires_at ?? '') - Date.parse(made.created_at);
            expect(lasts).to.equal(7 * 86_400_000);
            expect((await claim(ada, 'claimed.co.uk')).value).not.to.equal(made.value);
            expect(dataOf(await ada.call('GET', '/v1/sites/www.claimed.co.uk/claims'))).to.have.length(2);
        });

        it('is proved by DNS, which makes the workspace owner and maintainer', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            names.names.set(`_routebook.${domain}`, { txt: ['v=spf1 -all', made.value] });
            expect(await checked(ada, made)).to.deep.equal({ status: 'proven', reason: null });
            expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(true);
            dataOf(await ada.publish(aPackage(domain)));
            const listed = dataOf<MaintainerEntry[]>(await stranger(world).call('GET', `/v1/schemas/${domain}/maintainers`));
            expect(listed.map(({ workspace_id: id }) => id)).to.deep.equal([ada.workspaceId]);
            const [shown] = dataOf<ClaimEntry[]>(await ada.call('GET', `/v1/sites/${domain}/claims`));
            expect(shown).to.include({ claim_id: made.claim_id, status: 'proven', reason: null, expires_at: null });
        });

        it('is proved by a line in the file, which may contain lines of others', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            serveText(domain, `routebook-claim=${'x'.repeat(32)}\r\n  ${made.value}\r\n`);
            expect(await checked(ada, made)).to.deep.equal({ status: 'proven', reason: null });
            expect(web.asked).to.include(`${domain}${FILE}`);
        });

        it('is proved by the file behind a redirect to www', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            web.hosts.set(domain, (_request, response) => response.writeHead(301, { location: `https://www.${domain}${FILE}` }).end());
            serveText(`www.${domain}`, made.value);
            expect((await checked(ada, made)).status).to.equal('proven');
        });

        it('fails with a reason for each method, and can be proved later', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            const { status, reason } = await checked(ada, made);
            expect(status).to.equal('failed');
            expect(reason).to.include(`_routebook.${domain}`).and.to.include(`https://${domain}${FILE} answers with status 404`);
            expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(false);
            names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            await world.clock.advance({ minutes: 2 });
            expect((await checked(ada, made)).status).to.equal('proven');
        });

        type Hostile = Readonly<Record<string, (domain: string, made: ClaimEntry, of: ClaimEntry) => void>>;
        const hostile: Hostile = {
            "another workspace's value in DNS": (domain, _made, of) => names.names.set(`_routebook.${domain}`, { txt: [of.value] }),
            "another workspace's value in the file": (domain, _made, of) => serveText(domain, of.value),
            'the value with more behind it': (domain, made) => {
                names.names.set(`_routebook.${domain}`, { txt: [`${made.value}x`] });
                serveText(domain, `${made.value} and more`);
            },
            'the value at the domain itself instead of _routebook': (domain, made) => names.names.set(domain, { txt: [made.value] }),
            'an alias to another domain, as a wildcard makes it': (domain, made) => {
                names.names.set(`_routebook.${domain}`, { cname: 'tenant.hosting.test' });
                names.names.set('tenant.hosting.test', { txt: [made.value] });
            },
            'a TXT record of 50 KB': (domain) => names.names.set(`_routebook.${domain}`, { txt: ['x'.repeat(50_000)] }),
            'a file of more than 1 KiB': (domain, made) => serveText(domain, `${made.value}\n${'x'.repeat(1024)}`),
            'a file of 5 MB': (domain, made) => serveText(domain, `${made.value}\n${'x'.repeat(5_000_000)}`),
            'a compressed file': (domain, made) =>
                serveText(domain, made.value, (response) => response.setHeader('content-encoding', 'gzip')),
            'a file with another status': (domain, made) =>
                serveText(domain, made.value, (response) => {
                    response.statusCode = 203;
                }),
            'a redirect to another site': (domain, made) => {
                web.hosts.set(domain, (_request, response) => response.writeHead(302, { location: `https://www.own60.test${FILE}` }).end());
                serveText('www.own60.test', made.value);
            },
            'a redirect to another host of the domain': (domain, made) => {
                web.hosts.set(domain, (_request, response) =>
                    response.writeHead(302, { location: `https://other.${domain}${FILE}` }).end(),
                );
                serveText(`other.${domain}`, made.value);
            },
            'a redirect to another path': (domain, made) =>
                web.hosts.set(domain, ({ url }, response) =>
                    url === FILE ? response.writeHead(302, { location: '/uploads/1.txt' }).end() : response.end(made.value),
                ),
            'a redirect from www to elsewhere': (domain, made) => {
                web.hosts.set(domain, (_request, response) => response.writeHead(301, { location: `https://www.${domain}${FILE}` }).end());
                web.hosts.set(`www.${domain}`, (_request, response) =>
                    response.writeHead(301, { location: `https://other.${domain}${FILE}` }).end(),
                );
                serveText(`other.${domain}`, made.value);
            },
        };
        const endless: Hostile = {
            'name servers that never answer': (domain) => names.names.set(`_routebook.${domain}`, { silent: true }),
            'a file that never ends': (domain, made) =>
                web.hosts.set(domain, (_request, response) => {
                    response.write(`${made.value}\n`);
                }),
            'a web server that never answers': (domain) => web.hosts.set(domain, () => {}),
        };
        async function expectNoProof(what: string, arrange: Hostile[string]): Promise<void> {
            const domain = newDomain();
            const bob = await join(world);
            const [made, of] = [await claim(ada, domain), await claim(bob, domain)];
            arrange(domain, made, of);
            const began = performance.now();
            const answer = await checked(ada, made);
            expect(performance.now() - began, what).to.be.below(10_000);
            // A busy machine may still be checking. The list has the final state.
            if (answer.status === 'pending')
                await eventually(
                    () => shown(ada, made),
                    ({ status }) => status !== 'pending',
                    10_000,
                );
            const { status, reason } = await shown(ada, made);
            expect([status, reason?.includes(domain)], what).to.deep.equal(['failed', true]);
            expect(await isOwner(world.app.db, domain, ada.workspaceId), what).to.equal(false);
        }
        for (const [what, arrange] of Object.entries(hostile)) {
            it(`is not proved by ${what}, and the response comes within 10 seconds`, () => expectNoProof(what, arrange));
        }

        // Each of these takes as long as a check may, so they run concurrently.
        it(`is not proved by ${Object.keys(endless).join(', ')}, and the response comes within 10 seconds`, async () => {
            await Promise.all(Object.entries(endless).map(([what, arrange]) => expectNoProof(what, arrange)));
        });

        it('on a public suffix is proved only by its own file, not by DNS names that its customers control', async () => {
            const domain = ['js.org', 'duckdns.org'][TOPOLOGIES.indexOf(topology)] ?? '';
            const made = await claim(ada, domain);
            names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            web.hosts.set(domain, (_request, response) => response.writeHead(301, { location: `https://www.${domain}${FILE}` }).end());
            serveText(`www.${domain}`, made.value);
            const { status, reason } = await checked(ada, made);
            expect([status, reason?.includes('public suffix')]).to.deep.equal(['failed', true]);
            expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(false);

            serveText(domain, made.value);
            await world.clock.advance({ minutes: 2 });
            expect((await checked(ada, made)).status).to.equal('proven');
        });

        it('connects to no forbidden address', async () => {
            const domain = newDomain();
            hosts.set(domain, ['10.1.2.3']);
            const { status, reason } = await checked(ada, await claim(ada, domain));
            expect([status, reason]).to.satisfy(
                ([first, second]: [string, string]) => first === 'failed' && second.includes('may not be reached from here'),
            );
        });

        it('is checked once a minute, and an account checks 20 times an hour', async () => {
            const made = await Promise.all(Array.from({ length: 10 }, () => claim(ada, newDomain())));
            const statuses: number[] = [];
            for (const one of made) statuses.push((await check(ada, one)).status);
            const again = await check(ada, made[0] as ClaimEntry);
            expect([again.status, codeOf(again)]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(Number(again.headers.get('retry-after'))).to.be.within(1, 60);
            await world.clock.advance({ minutes: 2 });
            for (const one of made) statuses.push((await check(ada, one)).status);
            expect(statuses).to.deep.equal(Array(20).fill(200));
            await world.clock.advance({ minutes: 2 });
            const full = await check(ada, made[0] as ClaimEntry);
            expect([full.status, Number(full.headers.get('retry-after')) > 60]).to.deep.equal([429, true]);
        });

        it('is one of ten open claims of an account, until it is proved, deleted or seven days old', async () => {
            const made = await Promise.all(Array.from({ length: 10 }, (_, index) => claim(ada, `many${index}.test`)));
            const more = await ada.call('POST', '/v1/sites/many10.test/claims');
            expect([more.status, codeOf(more)]).to.deep.equal([429, 'RATE_LIMITED']);
            const [first] = made as [ClaimEntry];
            expect(dataOf(await ada.call('DELETE', `/v1/sites/${first.domain}/claims/${first.claim_id}`))).to.deep.equal({
                claim_id: first.claim_id,
                deleted: true,
            });
            expect(codeOf(await check(ada, first))).to.equal('CLAIM_NOT_FOUND');
            const second = await claim(ada, 'many10.test');
            expect(codeOf(await ada.call('POST', '/v1/sites/many11.test/claims'))).to.equal('RATE_LIMITED');
            await world.clock.advance({ days: 7 });
            expect(codeOf(await check(ada, second))).to.equal('CLAIM_NOT_FOUND');
            expect(dataOf(await ada.call('GET', '/v1/sites/many10.test/claims'))).to.deep.equal([]);
            await claim(ada, 'many11.test');
        });

        it('is hidden from others, who cannot check or delete it: foreign and absent claims look the same', async () => {
            const bob = await join(world);
            const made = await claim(ada, newDomain());
            for (const id of [made.claim_id, newId('clm'), 'clm_%00', 'nonsense']) {
                for (const [method, rest] of [
                    ['POST', '/check'],
                    ['DELETE', ''],
                ] as const) {
                    const answer = await bob.call(method, `/v1/sites/${made.domain}/claims/${id}${rest}`);
                    expect([answer.status, codeOf(answer)], `${method} ${id}`).to.deep.equal([404, 'CLAIM_NOT_FOUND']);
                }
            }
            expect(dataOf(await bob.call('GET', `/v1/sites/${made.domain}/claims`))).to.deep.equal([]);
            expect(codeOf(await stranger(world).call('GET', `/v1/sites/${made.domain}/claims`))).to.equal('API_KEY_REQUIRED');
        });

        it('is for owners and admins of a workspace only', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            await world.app.db.raw("update memberships set role = 'member' where user_id = ?", [ada.userId]);
            // A key's role is cached for less than a second.
            await eventually(
                () => ada.call('POST', `/v1/sites/${domain}/claims`),
                (answer) => codeOf(answer) === 'FORBIDDEN',
            );
            for (const answer of [await check(ada, made), await ada.call('DELETE', `/v1/sites/${domain}/claims/${made.claim_id}`)])
                expect(codeOf(answer)).to.equal('FORBIDDEN');
        });

        it('lists page by page', async () => {
            const domain = newDomain();
            const made = [await claim(ada, domain), await claim(ada, domain), await claim(ada, domain)];
            const seen: string[] = [];
            for (let query = '?limit=2'; query !== ''; ) {
                const answer = await ada.call('GET', `/v1/sites/${domain}/claims${query}`);
                seen.push(...dataOf<ClaimEntry[]>(answer).map(({ claim_id: id }) => id));
                const { pagination } = answer.body['meta'] as { pagination: { next_cursor: string | null; total: number } };
                expect(pagination.total).to.equal(3);
                query = pagination.next_cursor === null ? '' : `?limit=2&cursor=${pagination.next_cursor}`;
            }
            expect(seen).to.deep.equal(made.map(({ claim_id: id }) => id));
        });

        describe('that was proved', () => {
            const stateOf = async (made: ClaimEntry) => {
                const { rows } = await world.app.db.raw<{ rows: { status: string; failures: number; checks: number }[] }>(
                    'select status, failures, checks from claims where id = ?',
                    [made.claim_id],
                );
                return rows[0];
            };
            const newsOf = async (person: Person) => {
                const { rows } = await world.app.db.raw<{ rows: { subject: string; line: string }[] }>(
                    'select subject, line from workspace_news where workspace_id = ? order by id',
                    [person.workspaceId],
                );
                return rows;
            };

            it('is checked again every month, and lost after three failures a day apart, each of them mailed', async () => {
                const domain = newDomain();
                const made = await proveByDns(ada, domain);
                await world.clock.advance({ days: 31 });
                await eventually(
                    () => stateOf(made),
                    (state) => state?.checks === 2,
                    9000,
                );
                expect(await stateOf(made)).to.include({ status: 'proven', failures: 0 });
                names.names.delete(`_routebook.${domain}`);
                const subjects: string[] = [];
                for (const failures of [1, 2]) {
                    await world.clock.advance({ days: failures === 1 ? 31 : 1, hours: 1 });
                    await eventually(
                        () => stateOf(made),
                        (state) => state?.failures === failures,
                        9000,
                    );
                    subjects.push((await newsOf(ada)).at(-1)?.subject ?? '');
                    expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(true);
                }
                await world.clock.advance({ days: 1, hours: 1 });
                await eventually(
                    () => stateOf(made),
                    (state) => state?.status === 'failed',
                    9000,
                );
                subjects.push((await newsOf(ada)).at(-1)?.subject ?? '');
                expect(subjects).to.deep.equal([
                    `The proof of ${domain} was not found`,
                    `The proof of ${domain} was not found`,
                    `${domain} is no longer proved as yours`,
                ]);
                expect((await newsOf(ada)).at(-1)?.line).to.include(made.value);
                expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(false);
                // A domain gets one mail an hour. The process that sends it may take five seconds.
                await world.clock.advance({ hours: 1, minutes: 1 });
                const lost = `no SMTP_URL, so not mailed: ${domain} is no longer proved as yours`;
                await eventually(
                    async () => world.logged.some(({ message }) => String(message).startsWith(lost)),
                    (isSent) => isSent,
                    9000,
                );
                // It still maintains the domain and may prove it again.
                dataOf(await ada.publish(aPackage(domain)));
                names.names.set(`_routebook.${domain}`, { txt: [made.value] });
                await world.clock.advance({ minutes: 2 });
                expect((await checked(ada, made)).status).to.equal('proven');
            });

            it('is checked again at once when another workspace proves the domain; both may keep it', async () => {
                const domain = newDomain();
                const bob = await join(world);
                const first = await proveByDns(ada, domain);
                await proveByDns(bob, domain);
                await eventually(
                    () => stateOf(first),
                    (state) => state?.checks === 2,
                    9000,
                );
                expect(await stateOf(first)).to.include({ status: 'proven', failures: 0 });
                const eve = await join(world);
                names.names.delete(`_routebook.${domain}`);
                await proveByDns(eve, domain);
                await eventually(
                    () => stateOf(first),
                    (state) => state?.failures === 1,
                    9000,
                );
                expect(await stateOf(first)).to.include({ status: 'proven' });
            });

            it('ends when it is deleted; the workspace remains a maintainer', async () => {
                const domain = newDomain();
                const made = await proveByDns(ada, domain);
                expect(await checked(ada, made)).to.deep.equal({ status: 'proven', reason: null });
                dataOf(await ada.call('DELETE', `/v1/sites/${domain}/claims/${made.claim_id}`));
                expect(await isOwner(world.app.db, domain, ada.workspaceId)).to.equal(false);
                dataOf(await ada.publish(aPackage(domain)));
            });
        });

        it('on a domain that an operator blocked is proved by DNS only, without calling the site', async () => {
            const domain = newDomain();
            await world.app.db.transaction((trx) => sites.blockDomain(trx, domain, 'its owner asked'));
            const made = await claim(ada, domain);
            serveText(domain, made.value);
            const { status, reason } = await checked(ada, made);
            expect([status, reason?.includes('use DNS')]).to.deep.equal(['failed', true]);
            expect(web.asked.filter((place) => place.startsWith(domain))).to.deep.equal([]);
            names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            await world.clock.advance({ minutes: 2 });
            expect((await checked(ada, made)).status).to.equal('proven');
        });
    });
}
