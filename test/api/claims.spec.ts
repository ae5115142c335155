import { expect } from 'chai';
import type { ClaimEntry } from '../../shared/contracts/claims.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { isOwner } from '../../shared/store/registry/ownership.ts';
import { useClaims } from '../support/claims.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, paginationOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a claim on a domain, over ${topology}`, () => {
        const { opened, newDomain, claim, check, checked, proveByDns } = useClaims(topology);
        let ada: Person;

        beforeEach(async () => {
            ada = await join(opened.world);
        });

        it('is checked once a minute, and an account checks 20 times an hour', async () => {
            const made = await Promise.all(Array.from({ length: 10 }, () => claim(ada, newDomain())));
            const statuses: number[] = [];
            for (const one of made) statuses.push((await check(ada, one)).status);
            const again = await check(ada, made[0] as ClaimEntry);
            expect([again.status, codeOf(again)]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(Number(again.headers.get('retry-after'))).to.be.within(1, 60);
            await opened.world.clock.advance({ minutes: 2 });
            for (const one of made) statuses.push((await check(ada, one)).status);
            expect(statuses).to.deep.equal(Array(20).fill(200));
            await opened.world.clock.advance({ minutes: 2 });
            const full = await check(ada, made[0] as ClaimEntry);
            expect([full.status, Number(full.headers.get('retry-after')) > 60]).to.deep.equal([429, true]);
        });

        it('counts as one of an account’s ten open claims until it is proved, deleted or seven days old', async () => {
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
            await opened.world.clock.advance({ days: 7 });
            expect(codeOf(await check(ada, second))).to.equal('CLAIM_NOT_FOUND');
            expect(dataOf(await ada.call('GET', '/v1/sites/many10.test/claims'))).to.deep.equal([]);
            await claim(ada, 'many11.test');
        });

        it('is hidden from others, who cannot check or delete it: foreign and absent claims look the same', async () => {
            const bob = await join(opened.world);
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
            expect(codeOf(await stranger(opened.world).call('GET', `/v1/sites/${made.domain}/claims`))).to.equal('API_KEY_REQUIRED');
        });

        it('is for owners and admins of a workspace only', async () => {
            const domain = newDomain();
            const made = await claim(ada, domain);
            await opened.world.app.db.raw("update memberships set role = 'member' where user_id = ?", [ada.userId]);
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
                const pagination = paginationOf(answer);
                expect(pagination.total).to.equal(3);
                query = pagination.next_cursor === null ? '' : `?limit=2&cursor=${pagination.next_cursor}`;
            }
            expect(seen).to.deep.equal(made.map(({ claim_id: id }) => id));
        });

        describe('that was proved', () => {
            const stateOf = async (made: ClaimEntry) => {
                const { rows } = await opened.world.app.db.raw<{ rows: { status: string; failures: number; checks: number }[] }>(
                    'select status, failures, checks from claims where id = ?',
                    [made.claim_id],
                );
                return rows[0];
            };
            const newsOf = async (person: Person) => {
                const { rows } = await opened.world.app.db.raw<{ rows: { subject: string; line: string }[] }>(
                    'select subject, line from workspace_news where workspace_id = ? order by id',
                    [person.workspaceId],
                );
                return rows;
            };

            it('is checked again every month, and lost after three failures a day apart, each of them mailed', async () => {
                const domain = newDomain();
                const made = await proveByDns(ada, domain);
                await opened.world.clock.advance({ days: 31 });
                await eventually(
                    () => stateOf(made),
                    (state) => state?.checks === 2,
                    9000,
                );
                expect(await stateOf(made)).to.include({ status: 'proven', failures: 0 });
                opened.names.names.delete(`_routebook.${domain}`);
                const subjects: string[] = [];
                for (const failures of [1, 2]) {
                    await opened.world.clock.advance({ days: failures === 1 ? 31 : 1, hours: 1 });
                    await eventually(
                        () => stateOf(made),
                        (state) => state?.failures === failures,
                        9000,
                    );
                    subjects.push((await newsOf(ada)).at(-1)?.subject ?? '');
                    expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(true);
                }
                await opened.world.clock.advance({ days: 1, hours: 1 });
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
                expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(false);
                // A domain gets one mail an hour. The process that sends it may take five seconds.
                await opened.world.clock.advance({ hours: 1, minutes: 1 });
                const lost = `no SMTP_URL, so not mailed: ${domain} is no longer proved as yours`;
                await eventually(
                    async () => opened.world.logged.some(({ message }) => String(message).startsWith(lost)),
                    (isSent) => isSent,
                    9000,
                );
                // It still maintains the domain and may prove it again.
                dataOf(await ada.publish(aPackage(domain)));
                opened.names.names.set(`_routebook.${domain}`, { txt: [made.value] });
                await opened.world.clock.advance({ minutes: 2 });
                expect((await checked(ada, made)).status).to.equal('proven');
            });

            it('is checked again at once when another workspace proves the domain; both may keep it', async () => {
                const domain = newDomain();
                const bob = await join(opened.world);
                const first = await proveByDns(ada, domain);
                await proveByDns(bob, domain);
                await eventually(
                    () => stateOf(first),
                    (state) => state?.checks === 2,
                    9000,
                );
                expect(await stateOf(first)).to.include({ status: 'proven', failures: 0 });
                const eve = await join(opened.world);
                opened.names.names.delete(`_routebook.${domain}`);
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
                expect(await isOwner(opened.world.app.db, domain, ada.workspaceId)).to.equal(false);
                dataOf(await ada.publish(aPackage(domain)));
            });
        });
    });
}
