import { expect } from 'chai';
import { keyHash, newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { useWorld } from '../support/world.ts';

describe('a report of leaked keys', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });

    const report = (body: unknown, address = '203.0.113.5') =>
        stranger(world).call('POST', '/v1/keys/report', { body, headers: { 'x-forwarded-for': address } });
    const hashOf = (key: string) => keyHash(key).toString('base64');
    const mails = async (person: Person) => {
        const { rows } = await world.app.db.raw<{ rows: unknown[] }>(
            'select from outgoing_mails where recipient = (select email from users where id = ?)',
            [person.userId],
        );
        return rows.length;
    };

    it('revokes a valid key within a second, mails its owner once, and reveals nothing about others', async () => {
        const [leaked, other] = [await join(world), await join(world)];
        const key = leaked.apiKey ?? '';
        const found = { token: key, type: 'routebook_api_key', url: 'https://code.example/x', source: 'content' };
        const unknown = newApiKey();
        expect((await leaked.call('GET', '/v1/account')).status).to.equal(200);
        const { status, body } = await report([found, { token: unknown, type: 'routebook_api_key' }, { token: 'nonsense' }]);
        expect(status).to.equal(200);
        expect(body).to.deep.equal([
            { token_hash: hashOf(key), token_type: 'routebook_api_key', label: 'true_positive' },
            { token_hash: hashOf(unknown), token_type: 'routebook_api_key', label: 'false_positive' },
            { token_hash: hashOf('nonsense'), label: 'false_positive' },
        ]);
        await eventually(
            async () => (await leaked.call('GET', '/v1/account')).status,
            (code) => code === 401,
            1000,
        );
        expect((await other.call('GET', '/v1/account')).status).to.equal(200);
        expect((await report({ keys: [key] })).body).to.deep.equal([{ token_hash: hashOf(key), label: 'true_positive' }]);
        expect([await mails(leaked), await mails(other)]).to.deep.equal([1, 0]);
    });

    it('mails the owner where to see what the key left behind, such as webhooks', async () => {
        const leaked = await join(world);
        await report({ keys: [leaked.apiKey] });
        const [{ email }] = await world.app.db('users').where({ id: leaked.userId }).select('email');
        const mailed = () => world.logged.find(({ mail_to }) => mail_to === email);
        await eventually(
            async () => mailed(),
            (line) => line !== undefined,
        );
        expect(mailed()?.['mail_text']).to.include(`${world.app.publicUrl()}/dashboard/settings/access`);
    });

    it('sends no mail to an unconfirmed address, which may be a stranger’s', async () => {
        const leaked = await join(world);
        await world.app.db.raw('update users set verified_at = null where id = ?', [leaked.userId]);
        const { body } = await report([{ token: leaked.apiKey }]);
        expect(body).to.have.nested.property('[0].label', 'true_positive');
        expect(await mails(leaked)).to.equal(0);
    });

    it('is in the audit of the workspace, without the address of the reporter', async () => {
        const leaked = await join(world);
        const { id } = dataOf<{ key: { id: string } }>(await leaked.call('GET', '/v1/account')).key;
        await report({ keys: [leaked.apiKey] });
        const { rows } = await world.app.db.raw<{ rows: object[] }>(
            'select actor, action, target, ip from workspace_audit where workspace_id = ?',
            [leaked.workspaceId],
        );
        expect(rows).to.deep.equal([{ actor: 'system', action: 'key.reported', target: id, ip: null }]);
    });

    it('counts for its address, whatever it contains, even if nothing in it is a key', async () => {
        const asked = Array.from({ length: 61 }, (_, index) => report({ keys: [`nonsense ${index}`] }, '203.0.113.97'));
        const codes = (await Promise.all(asked)).map(codeOf).filter((code) => code !== undefined);
        expect(codes).to.deep.equal(['RATE_LIMITED']);
    });

    it('is limited in size, and in number by address', async () => {
        for (const body of [[], { keys: [] }, { keys: Array.from({ length: 101 }, () => 'x') }, 'text', { token: 'x' }])
            expect(codeOf(await report(body)), JSON.stringify(body)).to.be.oneOf(['VALIDATION_ERROR', 'INVALID_JSON']);
        expect(detailsOf(await report({ keys: Array.from({ length: 101 }, () => 'x') }))).to.deep.equal(['/keys INVALID_VALUE']);
        expect(detailsOf(await report([{ token: 'x' }, { token: 5 }]))).to.deep.equal(['/1/token INVALID_TYPE']);
        expect(detailsOf(await report({ token: 'x' }))).to.have.members(['/keys REQUIRED', '/token UNKNOWN_FIELD']);
        const key = newApiKey();
        const asked = Array.from({ length: 61 }, () => report({ keys: [key] }, '203.0.113.99'));
        const codes = (await Promise.all(asked)).map(codeOf).filter((code) => code !== undefined);
        expect(codes).to.deep.equal(['RATE_LIMITED']);
        expect(codeOf(await report({ keys: [key] }, '203.0.113.98'))).to.equal(undefined);
    });
});
