import { expect } from 'chai';
import { FORM_BYTES } from '../../api/dashboard/fields.ts';
import { oneOf } from '../support/sample.ts';
import { useWorld } from '../support/world.ts';
import { FORMS, pathOf, SHOWN } from './support/places.ts';
import { type Settled, settle } from './support/settled.ts';
import { hiddenOf, type Visitor, visitor } from './support/visitor.ts';

/** Field names that our forms read. Each gets each of the values below. */
const NAMES = [
    'email',
    'password',
    'new_password',
    'name',
    'role',
    'expires',
    'overlap',
    'workspace',
    'token',
    'invite',
    'next',
    'key',
    'site',
    'endpoint',
    'url',
    'code',
    'state',
    'credential',
    'auth_id',
    'workspace_id',
    'once',
    '_workspace',
    '_form',
];

const VALUES: Readonly<Record<string, string>> = {
    'a NUL': '%00',
    'a NUL in the middle': 'ada%00@people.example',
    'a lone surrogate': '%ED%A0%80',
    'bytes that are no UTF-8': '%FF%FE%80',
    'a broken escape': '%ZZ%',
    'control characters': '%01%1B%7F%C2%85',
    'line breaks': 'a%0D%0ASet-Cookie:%20x=1',
    'a very long word': 'x'.repeat(30_000),
    'an emoji': '%F0%9F%A6%8A',
    markup: '%3Cscript%3Ealert(1)%3C/script%3E%22%27%26',
    'a template': '%3C%25%3D%20it%20%25%3E',
    SQL: "'%3B%20drop%20table%20users%3B--",
    'the prototype': '__proto__',
    'a number': '-1e999',
    nothing: '',
};

describe('malicious forms (I1)', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let somebody: Settled;
    let people: Record<string, Visitor>;

    before(async () => {
        somebody = await settle(world);
        people = { 'somebody signed in': somebody, 'a stranger': visitor(world) };
    });

    /** A URL-encoded body with all fields that a form may read, some of them `changed`. */
    function bodyWith(form: string, changed: Record<string, string>): string {
        const usual = {
            _form: form,
            email: 'ada%40people.example',
            password: 'wrong',
            name: 'Name',
            role: 'member',
            expires: 'never',
            overlap: 'day',
        };
        return Object.entries({ ...usual, ...changed })
            .map(([name, value]) => `${name}=${value}`)
            .join('&');
    }

    async function tokenOf(person: Visitor): Promise<string> {
        return hiddenOf((await person.get(person === somebody ? '/dashboard/settings' : '/login')).html, '_form') ?? '';
    }

    /** Expects no bug, no injected HTML, and a status that pages may have. */
    function expectSound({ status, html }: { status: number; html: string }, where: string): void {
        expect(status, where).to.be.oneOf([200, 303, 400, 403, 404, 405, 409, 410, 413, 415, 422, 429]);
        expect(html, where).not.to.include('<script>alert(1)');
        if (status !== 303) expect(html, where).to.include('</html>');
    }

    it('are answered safely, with any value in every field', async () => {
        const isTaken = oneOf(7);
        for (const [who, person] of Object.entries(people)) {
            const form = await tokenOf(person);
            // Signing out would end the other requests' session.
            for (const page of FORMS.filter(({ path }) => path !== '/logout')) {
                for (const [what, value] of Object.entries(VALUES).filter(isTaken)) {
                    const changed = Object.fromEntries(
                        NAMES.filter((name) => name !== '_form' && name !== '_workspace').map((name) => [name, value]),
                    );
                    const answer = await person.post(pathOf(page, somebody.values), bodyWith(form, changed));
                    expectSound(answer, `${page.path} with ${what} for ${who}`);
                }
            }
        }
    });

    it('are answered safely with one odd field', async () => {
        const isTaken = oneOf(7);
        const form = await tokenOf(somebody);
        for (const path of ['/dashboard/keys', '/dashboard/workspace/rename', '/dashboard/settings/address', '/signup', '/login']) {
            for (const name of NAMES) {
                for (const [what, value] of Object.entries(VALUES).filter(isTaken)) {
                    expectSound(await somebody.post(path, bodyWith(form, { [name]: value })), `${path}: ${what} in ${name}`);
                }
            }
        }
    });

    it('are refused if they are too large, repeat a field, have too many, or are no forms', async () => {
        const isTaken = oneOf(3);
        for (const [who, person] of Object.entries(people)) {
            const form = await tokenOf(person);
            for (const page of FORMS.filter(({ path }) => path !== '/logout' && isTaken())) {
                const path = pathOf(page, somebody.values);
                const where = `${page.path} for ${who}`;
                const send = async (body: string | Buffer, type?: string) =>
                    person.post(path, body, type === undefined ? {} : { 'content-type': type });
                const tooMany = (page.formBytes ?? FORM_BYTES) + 5000;
                // The session may have ended while a large form was written: its sender signs in first.
                const isAskedToSignIn = person !== somebody && page.formBytes !== undefined;
                const refused = isAskedToSignIn ? 303 : 413;
                expect((await send(bodyWith(form, { name: 'x'.repeat(tooMany) }))).status, where).to.equal(refused);
                expect((await send(`${bodyWith(form, {})}&name=again`)).status, where).to.equal(400);
                expect(
                    (await send(bodyWith(form, Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, '1']))))).status,
                    where,
                ).to.equal(400);
                for (const type of [
                    'application/json',
                    'multipart/form-data; boundary=x',
                    'text/plain',
                    '',
                    'application/x-www-form-urlencoded; charset=latin1',
                ]) {
                    expect((await send('{"a":1}', type)).status, `${where} as ${type}`).to.equal(415);
                }
                expectSound(await send(''), where);
                expectSound(await send(Buffer.from([0, 255, 128, 61, 38])), where);
            }
        }
    });

    it('are answered safely with such paths and queries, too', async () => {
        const isTaken = oneOf(7);
        for (const [who, person] of Object.entries(people)) {
            for (const page of SHOWN) {
                for (const [what, value] of Object.entries(VALUES).filter(isTaken)) {
                    if (value.length > 5000) continue;
                    const where = `${page.path} with ${what} for ${who}`;
                    const path = page.path.replaceAll(/\{[a-z_]+\}/g, value === '' ? 'x' : value);
                    const query = ['token', 'next', 'invite', 'q', '__proto__', 'constructor'].map((name) => `${name}=${value}`).join('&');
                    const encoded = `${path}?${query}&q=${value}`.replaceAll(' ', '%20');
                    const { status } = await person.get(encoded);
                    expect(status, where).to.be.oneOf([200, 303, 400, 403, 404, 410]);
                }
            }
        }
    });

    it('sign nobody in with such cookies', async () => {
        for (const value of ['x', 'a'.repeat(43), '"quoted"', '{}', '%00', 'a=b=c', '\u00e9']) {
            for (const name of ['routebook_session', 'routebook_visit', 'routebook_notice', '__proto__']) {
                const person = visitor(world);
                person.cookies.set(name, value);
                expect((await person.get('/login')).status, `${name}=${value}`).to.equal(200);
                expect((await person.get('/dashboard')).status, `${name}=${value}`).to.equal(303);
            }
        }
    });

    it('leave no bug in the log, and the account unchanged', async () => {
        expect(world.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
        expect((await somebody.get('/dashboard')).status).to.equal(200);
    });
});
