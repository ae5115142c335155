import { expect } from 'chai';
import type { ClaimEntry } from '../../shared/contracts/claims.ts';
import type { MaintainerEntry } from '../../shared/contracts/maintainers.ts';
import { isOwner } from '../../shared/store/registry/ownership.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { PROOF_FILE, useClaims } from '../support/claims.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY, TOPOLOGIES } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a pending claim on a domain, over ${topology}`, () => {
        const { opened, hosts, newDomain, claim, checked, shown, serveText } = useClaims(topology);
        let ada: Person;

        beforeEach(async () => {
            ada = await join(opened.world);
        });

        it('explains how to prove it, for the registrable domain only', async () => {
            const answer = await ada.call('POST', '/v1/sites/Shop.Claimed.co.uk/claims');
            expect(answer.status).to.equal(201);
            const made = dataOf<ClaimEntry>(answer);
            expect(made.value).to.match(/^routebook-claim=[0-9A-Za-z]{32}$/);
            expect(made).to.deep.include({
                domain: 'claimed.co.uk',
                status: 'pending',
                reason: null,
                methods: [{ dns: `_routebook.claimed.co.uk TXT ${made.value}` }, { url: `https://claimed.co.uk${PROOF_FILE}` }],
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
            opened.names.names.set(`_routebook.${domain}`, { txt: ['v=spf1 -all', made.value] });
            expect(await checked(ada, made)).to.deep.equal({ status: 'proven', reason: null });
            expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(true);
            dataOf(await ada.publish(aPackage(domain)));
            const listed = dataOf<MaintainerEntry[]>(await stranger(opened.world).call('GET', `/v1/schemas/${domain}/maintainers`));
            expect(listed.map(({ workspace_id: id }) => id)).to.deep.equal([ada.workspaceId]);
            const [shown] = dataOf<ClaimEntry[]>(await ada.call('GET', `/v1/sites/${domain}/claims`));
            expect(shown).to.include({ claim_id: made.claim_id, status: 'proven', reason: null, expires_at: null });
        });

        it('is proved by a line in the file, which may contain lines of others', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            serveText(domain, `routebook-claim=${'x'.repeat(32)}\r\n  ${made.value}\r\n`);
            expect(await checked(ada, made)).to.deep.equal({ status: 'proven', reason: null });
            expect(opened.web.asked).to.include(`${domain}${PROOF_FILE}`);
        });

        it('is proved by the file behind a redirect to www', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            opened.web.hosts.set(domain, (_request, response) =>
                response.writeHead(301, { location: `https://www.${domain}${PROOF_FILE}` }).end(),
            );
            serveText(`www.${domain}`, made.value);
            expect((await checked(ada, made)).status).to.equal('proven');
        });

        it('fails with a reason for each method, and can be proved later', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            const { status, reason } = await checked(ada, made);
            expect(status).to.equal('failed');
            expect(reason).to.include(`_routebook.${domain}`).and.to.include(`https://${domain}${PROOF_FILE} answers with status 404`);
            expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(false);
            opened.names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            await opened.world.clock.advance({ minutes: 2 });
            expect((await checked(ada, made)).status).to.equal('proven');
        });

        type Hostile = Readonly<Record<string, (domain: string, made: ClaimEntry, of: ClaimEntry) => void>>;
        const hostile: Hostile = {
            "another workspace's value in DNS": (domain, _made, of) => opened.names.names.set(`_routebook.${domain}`, { txt: [of.value] }),
            "another workspace's value in the file": (domain, _made, of) => serveText(domain, of.value),
            'the value with more behind it': (domain, made) => {
                opened.names.names.set(`_routebook.${domain}`, { txt: [`${made.value}x`] });
                serveText(domain, `${made.value} and more`);
            },
            'the value at the domain itself instead of _routebook': (domain, made) => opened.names.names.set(domain, { txt: [made.value] }),
            'an alias to another domain, as a wildcard makes it': (domain, made) => {
                opened.names.names.set(`_routebook.${domain}`, { cname: 'tenant.hosting.test' });
                opened.names.names.set('tenant.hosting.test', { txt: [made.value] });
            },
            'a TXT record of 50 KB': (domain) => opened.names.names.set(`_routebook.${domain}`, { txt: ['x'.repeat(50_000)] }),
            'a file of more than 1 KiB': (domain, made) => serveText(domain, `${made.value}\n${'x'.repeat(1024)}`),
            'a file of 5 MB': (domain, made) => serveText(domain, `${made.value}\n${'x'.repeat(5_000_000)}`),
            'a compressed file': (domain, made) =>
                serveText(domain, made.value, (response) => response.setHeader('content-encoding', 'gzip')),
            'a file with another status': (domain, made) =>
                serveText(domain, made.value, (response) => {
                    response.statusCode = 203;
                }),
            'a redirect to another site': (domain, made) => {
                opened.web.hosts.set(domain, (_request, response) =>
                    response.writeHead(302, { location: `https://www.own60.test${PROOF_FILE}` }).end(),
                );
                serveText('www.own60.test', made.value);
            },
            'a redirect to another host of the domain': (domain, made) => {
                opened.web.hosts.set(domain, (_request, response) =>
                    response.writeHead(302, { location: `https://other.${domain}${PROOF_FILE}` }).end(),
                );
                serveText(`other.${domain}`, made.value);
            },
            'a redirect to another path': (domain, made) =>
                opened.web.hosts.set(domain, ({ url }, response) =>
                    url === PROOF_FILE ? response.writeHead(302, { location: '/uploads/1.txt' }).end() : response.end(made.value),
                ),
            'a redirect from www to elsewhere': (domain, made) => {
                opened.web.hosts.set(domain, (_request, response) =>
                    response.writeHead(301, { location: `https://www.${domain}${PROOF_FILE}` }).end(),
                );
                opened.web.hosts.set(`www.${domain}`, (_request, response) =>
                    response.writeHead(301, { location: `https://other.${domain}${PROOF_FILE}` }).end(),
                );
                serveText(`other.${domain}`, made.value);
            },
        };
        const endless: Hostile = {
            'name servers that never answer': (domain) => opened.names.names.set(`_routebook.${domain}`, { silent: true }),
            'a file that never ends': (domain, made) =>
                opened.web.hosts.set(domain, (_request, response) => {
                    response.write(`${made.value}\n`);
                }),
            'a web server that never answers': (domain) => opened.web.hosts.set(domain, () => {}),
        };
        async function expectNoProof(what: string, arrange: Hostile[string]): Promise<void> {
            const domain = newDomain();
            const bob = await join(opened.world);
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
            expect(await isOwner(opened.world.app.db, domain, ada.workspaceId), what).to.equal(false);
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
            opened.names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            opened.web.hosts.set(domain, (_request, response) =>
                response.writeHead(301, { location: `https://www.${domain}${PROOF_FILE}` }).end(),
            );
            serveText(`www.${domain}`, made.value);
            const { status, reason } = await checked(ada, made);
            expect([status, reason?.includes('public suffix')]).to.deep.equal(['failed', true]);
            expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(false);

            serveText(domain, made.value);
            await opened.world.clock.advance({ minutes: 2 });
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

        it('on a domain that an operator blocked is proved by DNS only, without calling the site', async () => {
            const domain = newDomain();
            await opened.world.app.db.transaction((trx) => sites.blockDomain(trx, domain, 'its owner asked'));
            const made = await claim(ada, domain);
            serveText(domain, made.value);
            const { status, reason } = await checked(ada, made);
            expect([status, reason?.includes('use DNS')]).to.deep.equal(['failed', true]);
            expect(opened.web.asked.filter((place) => place.startsWith(domain))).to.deep.equal([]);
            opened.names.names.set(`_routebook.${domain}`, { txt: [made.value] });
            await opened.world.clock.advance({ minutes: 2 });
            expect((await checked(ada, made)).status).to.equal('proven');
        });
    });
}
