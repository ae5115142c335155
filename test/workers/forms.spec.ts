import { expect } from 'chai';
import { FORM_SITE, FORM_SITE_HOSTS, formEndpoints, openFormSite, PASSWORD } from '../support/form-site.ts';
import { done, type JobRunner, openJobRunner } from '../support/jobs.ts';
import { loopbackRules, type Site } from '../support/sites.ts';

describe('a call with prepare', () => {
    let site: Site;
    let runner: JobRunner;

    before(async () => {
        site = await openFormSite();
        runner = openJobRunner(FORM_SITE, loopbackRules(`127.0.0.1:${site.port}`, FORM_SITE_HOSTS), formEndpoints(site.port));
    });
    after(async () => {
        await runner.close();
        await site.close();
    });
    // No memory is reserved after any call.
    afterEach(() => expect(runner.held()).to.equal(0));
    beforeEach(() => {
        site.seen.length = 0;
        runner.marks.length = 0;
    });

    const asked = () => site.seen.map(({ method, path }) => `${method} ${path}`);

    it('logs in with the token and the cookie of the page, and returns the page behind it', async () => {
        const outcome = done(await runner.run('log_in', { user: 'ada', password: PASSWORD }));
        expect(outcome.data['member']).to.equal('ada');
        expect(outcome.data['cookie']).to.match(/^member=ada; visit=v\d+$/);
        expect(outcome).to.include({ results: 1, requests: 1, truncated: false });
        expect(outcome.upstream).to.include({ status: 200, attempts: 3 });
        expect(asked()).to.deep.equal(['GET /login', 'POST /session', 'GET /members']);
    });

    it('sends the params and the fields of the page, in the order of the page', async () => {
        await runner.run('log_in', { user: 'ada', password: 'wrong' });
        const sent = [...new URLSearchParams(site.seen[1]?.body ?? '')];
        expect(sent.map(([name]) => name)).to.deep.equal(['csrf', 'user', 'remember', 'outside', 'password']);
        expect(site.seen[1]?.headers['content-type']).to.equal('application/x-www-form-urlencoded');
        expect(site.seen[0]?.headers).to.not.have.any.keys('cookie', 'content-type', 'referer', 'origin');
    });

    it('is marked as sent for the submission only, and never if the page is missing', async () => {
        expect(await runner.run('log_in', { user: 'ada', password: 'wrong' })).to.include({ ok: false, code: 'UPSTREAM_STATUS' });
        expect(runner.marks).to.deep.equal(['op_1']);
        runner.marks.length = 0;
        expect(await runner.run('lost_page')).to.include({ ok: false, code: 'UPSTREAM_STATUS', attempts: 1 });
        expect(await runner.run('bad_none')).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', attempts: 1 });
        expect(await runner.run('bad_away')).to.include({ ok: false, code: 'UPSTREAM_REDIRECT', attempts: 1 });
        expect(runner.marks).to.deep.equal([]);
        expect(asked().slice(2)).to.deep.equal(['GET /lost', 'GET /login', 'GET /login']);
    });

    it('keeps cookies through redirects of the page, by their paths', async () => {
        const outcome = done(await runner.run('log_in_from_old_page', { user: 'bo', password: PASSWORD }));
        expect(outcome.data['cookie']).to.match(/^member=bo; moved=1; visit=v\d+$/);
        expect(asked()).to.deep.equal(['GET /moved', 'GET /login', 'POST /session', 'GET /members']);
    });

    it('sends cookies only to the host that set them', async () => {
        const outcome = done(await runner.run('hand_over'));
        expect(asked()).to.deep.equal(['GET /login', 'POST /hand-over', 'GET /members-there']);
        expect(outcome.data['cookie']).to.equal(null);
        expect(site.seen[1]?.headers.cookie).to.match(/^visit=v\d+$/);
    });

    it('keeps cookies for one call only', async () => {
        expect(done(await runner.run('members_in_session')).data['cookie']).to.match(/^visit=v\d+$/);
        expect(await runner.run('members')).to.include({ ok: false, code: 'UPSTREAM_STATUS' });
        expect(site.seen.at(-1)?.headers).to.not.have.property('cookie');
        const second = done(await runner.run('members_in_session')).data['cookie'];
        expect(second, 'a visit of its own').to.equal(site.seen.at(-1)?.headers.cookie);
        expect(site.seen.at(-2)?.headers).to.not.have.property('cookie');
    });

    it('fills in a form with method GET, in place of the query of its action', async () => {
        const outcome = done(await runner.run('find', { q: 'lost key' }));
        expect(outcome.data['asked']).to.equal('/find?lang=en&q=lost%20key');
        expect(done(await runner.run('find', { lang: 'de' })).data['asked']).to.equal('/find?lang=de');
        expect(runner.marks).to.deep.equal([]);
    });

    it('follows the pages of a form’s results, with one preparation', async () => {
        const outcome = done(await runner.run('find_all', { q: 'key' }));
        expect(outcome.data['items']).to.deep.equal([{ page: 1 }, { page: 2 }]);
        expect(outcome).to.include({ requests: 2, truncated: false });
        expect(asked()).to.deep.equal([
            'GET /login',
            'GET /find?lang=en&q=key&page=1',
            'GET /find?lang=en&q=key&page=2',
            'GET /find?lang=en&q=key&page=3',
        ]);
    });

    it('leaves the query of a POST action unchanged, and sends JSON if the package says so', async () => {
        const asForm = done(await runner.run('note', { note: 'a & b', at: 'noon' })).data;
        expect(asForm['path']).to.equal('/notes?from=page&at=noon');
        expect(asForm['body']).to.match(/^csrf=token\+of\+v\d+&note=a\+%26\+b$/);
        const asJson = done(await runner.run('note_as_json', { note: 'a' })).data;
        expect(asJson).to.include({ type: 'application/json' });
        expect(JSON.parse(String(asJson['body']))).to.have.all.keys('csrf', 'note');
    });

    it('sends a form without an action to its own page', async () => {
        expect(await runner.run('post_here')).to.include({ ok: false, code: 'UPSTREAM_STATUS' });
        expect(asked()).to.deep.equal(['GET /login', 'POST /login']);
    });

    for (const [endpoint, code, what] of [
        ['bad_none', 'UPSTREAM_INVALID_RESPONSE', 'is not there'],
        ['bad_twin', 'UPSTREAM_INVALID_RESPONSE', 'is there twice'],
        ['not_a_form', 'UPSTREAM_INVALID_RESPONSE', 'is no form'],
        ['bad_search', 'UPSTREAM_INVALID_RESPONSE', 'is sent by another method'],
        ['bad_dialog', 'UPSTREAM_INVALID_RESPONSE', 'is not sent at all'],
        ['bad_away', 'UPSTREAM_REDIRECT', 'leads to another site'],
        ['bad_script', 'UPSTREAM_REDIRECT', 'leads to a script'],
        ['bad_port', 'EGRESS_DENIED', 'leads to a port that may not be reached'],
        ['bad_many', 'UPSTREAM_TOO_LARGE', 'has 201 hidden inputs'],
        ['bad_heavy', 'UPSTREAM_TOO_LARGE', 'has more than 64 KiB of hidden inputs'],
    ] as const) {
        it(`submits nothing if the form ${what}`, async () => {
            expect(await runner.run(endpoint, { note: 'x' })).to.include({ ok: false, code });
            expect(asked()).to.deep.equal(['GET /login']);
            expect(runner.marks).to.deep.equal([]);
        });
    }

    it('fills in a form of 200 hidden inputs', async () => {
        const { body } = done(await runner.run('fill_full', { note: 'x' })).data;
        expect([...new URLSearchParams(String(body))]).to.have.length(201);
    });

    it('submits nothing if its page takes all the time', async () => {
        const outcome = await runner.run('stuck', {}, { deadlineAt: Date.now() + 300 });
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_TIMEOUT', attempts: 1 });
        expect(asked()).to.deep.equal(['GET /stuck']);
        expect(runner.marks).to.deep.equal([]);
    });
});
