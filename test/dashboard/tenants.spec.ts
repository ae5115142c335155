import { expect } from 'chai';
import type { Page } from '../../api/dashboard/page.ts';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { newWebToken } from '../../shared/domain/accounts/web-token.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { createNotice } from '../../shared/store/accounts/notices.ts';
import { endSessions } from '../../shared/store/accounts/user-sessions.ts';
import { oneOf } from '../support/sample.ts';
import { aPackage } from '../support/schemas.ts';
import { type LocalStripe, openStripe } from '../support/stripe-server.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Private, privateNames } from './support/names.ts';
import { absentValues, FORMS, pathOf, SHOWN, type Values } from './support/places.ts';
import { type Settled, settle, userOf } from './support/settled.ts';
import { freshAddress, hiddenOf, type PageAnswer, signUp, type Visitor, visitor } from './support/visitor.ts';

/** Valid fields, so that every form reaches its own checks. */
const FIELDS: Readonly<Record<string, string>> = { name: 'A name', role: 'member', overlap: 'day', expires: 'never', email: '' };
/** Whoever has the token of an invitation may see its offer. */
const FOR_HOLDERS = ['/invite/{token}'];
/** Published data and requests for it are public. */
const FOR_EVERYBODY = /^\/(registry|requests|docs)\//;

describe('another tenant’s data on pages (I8)', () => {
    let world: World;
    let stripe: LocalStripe;
    let other: Settled;
    let owned: Private;
    let asking: Record<string, () => Promise<Visitor>>;

    before(async () => {
        stripe = await openStripe();
        world = await openWorld({ workers: 0, config: { trustProxy: 1, egressHosts: new Map(), stripe: stripe.settings } });
        await publishAsStarter(world.app, aPackage('books.example'));
        other = await settle(world);
        owned = await ownedBy(other);
        const mine = await settle(world);
        const ended = await signUp(world);
        const endedEmail = freshAddress();
        const gone = await signUp(world, endedEmail);
        await endSessions(world.app.db, await userOf(world, endedEmail));
        await ended.send('/logout');
        asking = {
            'somebody else': async () => mine,
            nobody: async () => visitor(world),
            'a wrong session': async () => withSession(visitor(world), newWebToken()),
            'a session that ended': async () => gone,
        };
    });
    after(async () => {
        await world.close();
        await stripe.close();
    });

    /** One value of each kind that pages take by name. */
    async function ownedBy(person: Settled): Promise<Private> {
        const { db, cursors } = world.app;
        const { workspaceId, userId, values } = person;
        await createNotice(db, { kind: 'plan_ended', accountId: userId, workspaceId, subject: 'sub_1', facts: { why: 'refund' } });
        const { rows } = await db.raw<{ rows: [{ id: string }] }>('select id from notices where workspace_id = ?', [workspaceId]);
        const begun = await person.get('/upgrade?plan=starter');
        const { operation, requestId } = await callBy(person);
        return {
            key_id: values.key_id,
            token: values.token,
            workspace: values.workspace,
            notice: rows[0].id,
            operation,
            request: requestId,
            checkout: /cs_\w+/.exec(begun.to ?? '')?.[0] ?? 'no checkout began',
            cursor: await cursors.seal(['statement', userId], [1, 1]),
        };
    }

    /** A call in the log and in the statement. */
    async function callBy({ userId, workspaceId, values }: Settled): Promise<{ operation: string; requestId: string }> {
        const { credits, usage } = world.app;
        const call = { operation: newId('op'), accountId: userId, workspaceId, userId, keyId: values.key_id, site: 'books.example' };
        await credits.hold({ ...call, endpoint: 'search', versionId: 1, effect: 'read', unit: 1, maxUnits: 1, expiresInMs: 30_000 });
        await credits.charge({ operation: call.operation, amount: 1 });
        const requestId = newId('req');
        usage.record({
            ...call,
            requestId,
            kind: 'fetch',
            registrable: 'books.example',
            endpoint: 'search',
            outcome: 'success',
            credits: 1,
            durationMs: 9,
        });
        await usage.flush();
        return { operation: call.operation, requestId };
    }

    /** A visitor without the notice that a previous response put onto the next page. */
    function afresh(person: Visitor): Visitor {
        person.cookies.delete('routebook_notice');
        return person;
    }

    const absentPrivate = (): Private => ({
        key_id: newId('key'),
        token: newWebToken(),
        workspace: newId('wsp'),
        notice: newId('ntc'),
        operation: newId('op'),
        request: newId('req'),
        checkout: `cs_${newId('op').slice(3)}`,
        cursor: 'bm90aGluZw',
    });

    function withSession(person: Visitor, token: string): Visitor {
        person.cookies.set('routebook_session', token);
        return person;
    }

    const showsIds = ({ path }: Page) => /\{/.test(path) && !FOR_HOLDERS.includes(path) && !FOR_EVERYBODY.test(path);

    /** The content of a response, without what differs each time. */
    function saying({ status, html, to = '' }: PageAnswer, values: Values): string {
        // Version numbers and pages of the documentation identify no tenant.
        const { version: _version, chapter: _chapter, section: _section, ...ids } = values;
        const known = Object.values<string>(ids).reduce(
            (text, value) => text.replaceAll(value, 'ID').replaceAll(encodeURIComponent(value), 'ID'),
            `${to} ${html}`,
        );
        return `${status} ${known
            // A visitor who signs in returns to the address that they asked for.
            .replaceAll(/\/login\?next=[^ "&]*/g, '/login')
            .replaceAll(/name="(_form|once)" value="[^"]*"/g, '')
            .replaceAll(/\b[a-z2-9]{4}(-[a-z2-9]{4}){3}\b/g, 'CODE')
            .replaceAll(/&quot;challenge&quot;:&quot;[\w-]{43}&quot;/g, '')
            .replaceAll(/\b(req|inv|rb_live|cs)_\w+/g, '$1')
            .replaceAll(/\/invite\/[\w-]{43}/g, '/invite/TOKEN')}`;
    }

    async function sendTo(person: Visitor, page: Page, values: Values, more: Record<string, string> = {}): Promise<PageAnswer> {
        // The notice of the form before, which no page has shown.
        person.cookies.delete('routebook_notice');
        return person.send(pathOf(page, values), { ...FIELDS, ...more });
    }

    it('is not visible on any page of others', async () => {
        for (const [who, find] of Object.entries(asking)) {
            const person = await find();
            for (const page of SHOWN) {
                const { html, headers } = await person.get(pathOf(page, absentValues()));
                for (const secret of other.secrets) {
                    expect(html + JSON.stringify(headers), `${page.path} for ${who}`).not.to.include(secret);
                }
            }
        }
    });

    it('looks like an absent one, wherever its ids are in the path of a page', async () => {
        for (const [who, find] of Object.entries(asking)) {
            const person = await find();
            for (const page of SHOWN.filter(showsIds)) {
                const absent = absentValues();
                const [given, missing] = [await person.get(pathOf(page, other.values)), await person.get(pathOf(page, absent))];
                expect(saying(given, other.values), `${page.path} for ${who}`).to.equal(saying(missing, absent));
                expect(given.status, `${page.path} for ${who}`).to.be.oneOf([303, 404]);
            }
        }
    });

    it('looks like an absent one, wherever its ids are in the path of a form', async () => {
        for (const [who, find] of Object.entries(asking)) {
            const person = await find();
            for (const page of FORMS.filter(showsIds)) {
                const absent = absentValues();
                const [given, missing] = [await sendTo(person, page, other.values), await sendTo(person, page, absent)];
                expect(saying(given, other.values), `${page.path} for ${who}`).to.equal(saying(missing, absent));
                expect(given.status, `${page.path} for ${who}`).to.be.oneOf([303, 404]);
            }
        }
    });

    it('looks like an absent one, wherever its workspace is in a form', async () => {
        const signingOut = ['/logout', '/dashboard/settings/sessions'];
        const isTaken = oneOf(3);
        for (const [who, find] of Object.entries(asking)) {
            const person = await find();
            for (const page of FORMS.filter(({ path }) => !signingOut.includes(path) && isTaken())) {
                const absent = absentValues();
                const ask = (field: string, workspaceId: string) => sendTo(person, page, absent, { [field]: workspaceId });
                const values = { ...other.values, workspace: other.workspaceId };
                const [given, missing] = [await ask('_workspace', other.workspaceId), await ask('_workspace', absent.workspace)];
                expect(saying(given, values), `${page.path} for ${who}`).to.equal(saying(missing, absent));
                // Forms without this field do their work twice, and show both results.
                const [named, unnamed] = [await ask('workspace', other.workspaceId), await ask('workspace', absent.workspace)];
                expect([named.status, named.to], `${page.path} for ${who}`).to.deep.equal([unnamed.status, unnamed.to]);
                for (const secret of other.secrets) expect(named.html.replaceAll(other.workspaceId, ''), page.path).not.to.include(secret);
            }
        }
    });

    it('looks like an absent one, wherever its data is named in the query of a page', async () => {
        const isTaken = oneOf(11);
        for (const who of ['somebody else', 'nobody']) {
            const person = (await asking[who]?.()) ?? visitor(world);
            for (const page of SHOWN.filter(({ audience }) => who !== 'nobody' || audience === 'anyone')) {
                for (const [name, kind] of privateNames().filter(isTaken)) {
                    const places = absentValues();
                    const absent = absentPrivate();
                    const ask = (value: string) =>
                        afresh(person).get(`${pathOf(page, places)}?plan=starter&${name}=${encodeURIComponent(value)}`);
                    const [given, missing] = [await ask(owned[kind]), await ask(absent[kind])];
                    const said = saying(given, { ...places, token: owned[kind] });
                    expect(said, `${page.path}?${name} for ${who}`).to.equal(saying(missing, { ...places, token: absent[kind] }));
                    for (const secret of other.secrets) {
                        expect(given.html.replaceAll(owned[kind], ''), `${page.path}?${name}`).not.to.include(secret);
                    }
                }
            }
        }
    });

    it('looks like an absent one, wherever its data is named in a form', async () => {
        const mine = await settle(world);
        const hidden = { _form: hiddenOf((await mine.get('/dashboard/settings')).html, '_form') ?? '', _workspace: mine.workspaceId };
        for (const page of FORMS.filter(({ path }) => !['/logout', '/dashboard/settings/sessions'].includes(path))) {
            // Published data exists for everybody, so such a form gets as far as its fields.
            const places = FOR_EVERYBODY.test(page.path) ? mine.values : absentValues();
            const ask = (values: Private) => {
                const named = Object.fromEntries(privateNames().map(([name, kind]) => [name, values[kind]]));
                // The form creates no invitation, which would be in the next response.
                const fields = { ...FIELDS, email: 'no address', plan: 'starter', ...named, ...hidden };
                return afresh(mine).post(pathOf(page, places), new URLSearchParams(fields).toString());
            };
            const absent = absentPrivate();
            const [given, missing] = [await ask(owned), await ask(absent)];
            const said = (answer: PageAnswer, values: Private) => saying(answer, { ...places, ...values, key_id: values.key_id });
            expect(said(given, owned), page.path).to.equal(said(missing, absent));
            expect(given.status, page.path).not.to.equal(403);
        }
    });

    it('is not available from the API with a cookie', async () => {
        for (const path of ['/v1/account', '/v1/catalog/books.example']) {
            const { status } = await other.get(path);
            expect(status, path).to.be.oneOf([400, 401]);
        }
        expect((await other.get('/v1/account')).status).to.equal(401);
    });

    it('keeps its keys, members, invitations and name whatever others try', async () => {
        const { html } = await other.get('/dashboard/workspace');
        for (const secret of [other.email, other.values.user_id, other.values.invitation_id]) expect(html).to.include(secret);
        expect((await other.get(`/dashboard/keys/${other.values.key_id}`)).html).to.include('active');
    });
});
