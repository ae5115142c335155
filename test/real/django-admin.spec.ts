import { expect } from 'chai';
import { type Answer, join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';
import { MEMBER, OPERATOR, startDjangoAdmin } from './support/django-admin.ts';
import { MEMBERS, membersPackage } from './support/members-package.ts';
import type { RealServer } from './support/real-server.ts';

interface Listed {
    title: string;
    note: string | null;
    rows: string[];
}

const metaOf = ({ body }: Answer) =>
    body['meta'] as { credits_used: number; results: number; truncated: boolean; upstream: { attempts: number } };
const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;
const names = (...numbers: number[]) => numbers.map((number) => `guest${String(number).padStart(3, '0')}`);

describe('the administration of Django behind a hosted fetch', () => {
    let server: RealServer;

    before(async function () {
        needs(this, 'django');
        server = await startDjangoAdmin();
    });

    after(() => server?.stop());

    for (const topology of TOPOLOGIES) {
        describe(`with queue and limits in ${topology}`, () => {
            let world: World;
            let ada: Person;

            before(async () => {
                world = await openWorld({ topology, config: { egressHosts: new Map([[MEMBERS, ['127.0.0.1']]]) } });
                ada = await join(world, { plan: 'pro' });
                const published = await ada.publish(membersPackage(server.port));
                expect(published.status, JSON.stringify(published.body)).to.equal(201);
            });

            after(() => world?.close());

            const call = (endpoint: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
                ada.fetch(MEMBERS, endpoint, params, more);
            const credits = async () => dataOf<{ credits: object }>(await ada.call('GET', '/v1/account')).credits;

            it('shows its login to strangers, on every page', async () => {
                const page = dataOf<{ url: string; title: string; markdown: string }>(await call('open_login'));
                expect(page).to.include({ title: 'Log in | Django site admin' });
                expect(page.markdown).to.include('Username:');
                const led = dataOf<{ url: string; title: string }>(await call('open_list'));
                expect(led).to.include({
                    url: `http://${MEMBERS}:${server.port}/admin/login/?next=/admin/auth/user/`,
                    title: 'Log in | Django site admin',
                });
            });

            it('signs its operator in with token and cookie, and continues to the requested page, by one submission', async () => {
                const sent = await server.logged('POST /admin/login/?next=/admin/auth/user/%3Fo%3D1');
                const answer = await call('log_in', OPERATOR);
                const page = dataOf<Listed>(answer);
                expect(page).to.include({ title: 'Select user to change | Django site admin', note: null });
                expect(page.rows.slice(0, 3)).to.deep.equal(['ada', ...names(0, 1)]);
                expect(page.rows).to.have.length(100);
                expect(metaOf(answer)).to.include({ credits_used: 1 });
                // The list, its redirect to the login, the submission, and the list again.
                expect(metaOf(answer).upstream.attempts).to.equal(4);
                expect(await server.logged('POST /admin/login/?next=/admin/auth/user/%3Fo%3D1')).to.equal(sent + 1);
            });

            it('finds members on pages that only its operator sees, on any page that the caller requests', async () => {
                const found = await call('search_members', { ...OPERATOR, next: '/admin/auth/user/?q=guest01&o=-1' });
                expect(dataOf<{ items: string[] }>(found).items).to.deep.equal(names(19, 18, 17, 16, 15, 14, 13, 12, 11, 10));
                expect(metaOf(found)).to.include({ credits_used: 10, results: 10, truncated: false });
                const second = await call('search_members', { ...OPERATOR, next: '/admin/auth/user/?o=1&p=2' }, { max_results: 3 });
                expect(dataOf<{ items: string[] }>(second).items).to.deep.equal(names(99, 100, 101));
                expect(metaOf(second)).to.include({ credits_used: 3, truncated: true });
                const none = await call('search_members', { ...OPERATOR, next: '/admin/auth/user/?q=nobody' });
                expect(dataOf<{ items: string[] }>(none).items).to.deep.equal([]);
                expect(metaOf(none)).to.include({ credits_used: 0 });
            });

            it('reports a failed sign-in, free of charge if the schema says so', async () => {
                for (const who of [MEMBER, { ...OPERATOR, password: 'wrong' }]) {
                    const page = dataOf<Listed>(await call('log_in', who));
                    expect(page).to.deep.include({ title: 'Log in | Django site admin', rows: [] });
                    expect(page.note).to.include('Please enter the correct username and password');
                }
                const before = await credits();
                const refused = await call('search_members', { ...MEMBER, next: '/admin/auth/user/?q=guest' });
                expect(errorOf(refused)).to.include({ code: 'UPSTREAM_INVALID_RESPONSE', fault: 'schema' });
                expect(await credits()).to.deep.equal(before);
            });

            it('refuses the right password without its token, without its cookie, or with another token, free of charge', async () => {
                const before = await credits();
                const forged = { ...OPERATOR, csrfmiddlewaretoken: 'x'.repeat(64) };
                for (const [endpoint, params] of [
                    ['log_in_without_form', OPERATOR],
                    ['log_in_with_cookie_alone', OPERATOR],
                    ['log_in_with_token', forged],
                ] as const) {
                    const error = errorOf(await call(endpoint, params));
                    expect(error, endpoint).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
                    expect(error['upstream'], endpoint).to.include({ status: 403 });
                }
                expect(await credits()).to.deep.equal(before);
            });

            it('forgets the login after the call', async () => {
                dataOf(await call('log_in', OPERATOR));
                expect(dataOf(await call('open_list'))).to.include({ title: 'Log in | Django site admin' });
                expect(JSON.stringify(world.logged)).not.to.include(OPERATOR.password);
            });
        });
    }
});
