import { expect } from 'chai';
import type { Page } from '../../api/dashboard/page.ts';
import { PAGES } from '../../api/dashboard/pages.ts';
import { newWebToken } from '../../shared/domain/accounts/web-token.ts';
import { useWorld } from '../support/world.ts';
import { FORMS, pathOf } from './support/places.ts';
import { type Settled, settle } from './support/settled.ts';
import { hiddenOf, type Visitor, visitor } from './support/visitor.ts';

/** Fields that the forms read, so that every form would get as far as its work. */
const FIELDS: Readonly<Record<string, string>> = {
    name: 'Owned',
    role: 'owner',
    overlap: 'now',
    expires: 'never',
    email: 'a@owned.example',
};

/** What a page of another site can make a browser send. */
const FOREIGN = { origin: 'https://owned.example', referer: 'https://owned.example/' };

/** Tables that forms change. */
const TABLES = [
    ...'users workspaces memberships api_keys workspace_invitations web_sessions passkeys totp_secrets recovery_codes'.split(' '),
    ...'mail_links outgoing_mails webhooks connections jobs batches monitors maintainers claims'.split(' '),
    ...'versions domains schema_requests workspace_audit'.split(' '),
];

describe('a form that another site sends in the browser of somebody signed in', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let person: Settled;
    /** Somebody else, whose form tokens the other site knows. */
    let attacker: Settled;
    let stateBefore: string;

    before(async () => {
        person = await settle(world);
        attacker = await settle(world);
        stateBefore = await state();
    });

    async function state(): Promise<string> {
        const rows = await Promise.all(
            TABLES.map((table) => world.app.db(table).select(world.app.db.raw("to_jsonb(??.*) - 'last_used_at' as row", [table]))),
        );
        return rows
            .map(
                (all, at) =>
                    `${TABLES[at]}: ${all
                        .map(({ row }) => JSON.stringify(row))
                        .toSorted()
                        .join('\n')}`,
            )
            .join('\n');
    }

    const tokenOf = async (one: Visitor, path = '/dashboard/settings') => {
        const token = hiddenOf((await one.get(path)).html, '_form');
        return token || expect.fail(`no form of ${path} has a token`);
    };
    const send = (page: Page, token: string | undefined, headers: Record<string, string>, query = '') => {
        const fields = { ...FIELDS, ...(token === undefined ? {} : { _form: token }) };
        return person.post(pathOf(page, person.values) + query, new URLSearchParams(fields).toString(), headers);
    };
    /** Pages of operators do not exist for others. */
    const refusalOf = ({ audience }: Page) => (audience === 'operator' ? 404 : 403);

    it('is refused without a token, with a token of somebody else or of nobody, and with a token in the URL', async () => {
        const own = await tokenOf(person);
        const tokens = {
            none: undefined,
            empty: '',
            short: own.slice(0, 20),
            random: newWebToken(),
            "somebody else's": await tokenOf(attacker),
            "a stranger's": await tokenOf(visitor(world), '/login'),
        };
        for (const page of FORMS) {
            for (const [which, token] of Object.entries(tokens)) {
                expect((await send(page, token, FOREIGN)).status, `${page.path}, token: ${which}`).to.equal(refusalOf(page));
            }
            expect((await send(page, undefined, FOREIGN, `?_form=${own}`)).status, page.path).to.equal(refusalOf(page));
        }
    });

    it('is accepted with a token of this browser if the browser says that this site sent it', async () => {
        const page = FORMS.find(({ path }) => path === '/dashboard/settings/password') ?? expect.fail('no form changes the password');
        const here = { origin: world.base, 'sec-fetch-site': 'same-origin' };
        // It lacks the passwords.
        expect((await send(page, await tokenOf(person), here)).status).to.equal(422);
    });

    it('is refused even with a token of this browser if the browser says that another site sent it', async () => {
        const own = await tokenOf(person);
        for (const page of FORMS) {
            for (const site of ['cross-site', 'same-site']) {
                const { status } = await send(page, own, { ...FOREIGN, 'sec-fetch-site': site });
                expect(status, `${page.path} from ${site}`).to.equal(refusalOf(page));
            }
        }
    });

    it('is refused in every encoding that browsers send without a preflight request', async () => {
        for (const page of FORMS) {
            for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/json']) {
                const { status } = await person.post(pathOf(page, person.values), '{"_form":""}', { ...FOREIGN, 'content-type': type });
                expect(status, `${page.path} as ${type}`).to.equal(415);
            }
        }
    });

    it('does nothing with another HTTP method, even if its headers or query name POST', async () => {
        const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const own = await tokenOf(person);
        const body = new URLSearchParams({ ...FIELDS, _form: own }).toString();
        const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '10.9.9.9' };
        const isServed = (method: string, path: string) => PAGES.some((page) => page.method === method && page.path === path);
        for (const page of FORMS) {
            const url = new URL(pathOf(page, person.values), world.base);
            for (const method of ['PUT', 'PATCH', 'DELETE']) {
                const { status } = await fetch(url, { method, headers, body });
                expect(status, `${method} ${page.path}`).to.be.oneOf([404, 405]);
            }
            if (isServed('GET', page.path)) continue;
            const meant = { ...headers, 'x-http-method-override': 'POST', 'x-method-override': 'POST' };
            const { status, headers: answered } = await fetch(`${url.href}?${body}&_method=POST`, { headers: meant, redirect: 'manual' });
            expect(status, `GET ${page.path}`).to.be.oneOf([303, 404, 405]);
            // To the page around the form, without what was sent.
            if (status === 303) expect(url.pathname.startsWith(`${answered.get('location')}/`), page.path).to.equal(true);
        }
        for (const page of PAGES.filter(({ method, path }) => method === 'GET' && !isServed('POST', path))) {
            expect((await send(page, own, {})).status, `POST ${page.path}`).to.be.oneOf([404, 405]);
        }
    });

    it('neither signs in nor signs up a visitor who is not signed in', async () => {
        const stranger = visitor(world);
        const body = new URLSearchParams({ ...FIELDS, _form: await tokenOf(attacker), email: attacker.email, password: 'x' }).toString();
        for (const page of FORMS) {
            const { status, to, headers } = await stranger.post(pathOf(page, person.values), body, FOREIGN);
            expect(headers['set-cookie']?.join('') ?? '', page.path).not.to.include('session=');
            if (page.audience === 'anyone') expect(status, page.path).to.equal(403);
            else if (page.audience === 'operator') expect([status, to], page.path).to.deep.equal([404, undefined]);
            else expect([status, to?.startsWith('/login?next=%2F')], page.path).to.deep.equal([303, true]);
        }
    });

    it('changes nothing', async () => {
        expect(await state()).to.equal(stateBefore);
    });
});
