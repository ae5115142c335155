import { expect } from 'chai';
import { removePasskey } from '../../shared/store/accounts/passkeys.ts';
import type { World } from '../support/world.ts';
import type { MailServer } from './support/mail-server.ts';
import { openMailWorld } from './support/mail-world.ts';
import { type Settled, settle } from './support/settled.ts';
import { hiddenOf, PASSWORD, visitor, wordsOf } from './support/visitor.ts';

const ACCESS = '/dashboard/settings/access';
const NEW_PASSWORD = 'a sentence that no thief knows';

describe('what works without a session', () => {
    let world: World;
    let mail: MailServer;

    before(async () => {
        ({ world, mail } = await openMailWorld());
    });
    after(() => world.close());

    /** The forms of the page, with their hidden fields. */
    const formsOf = (html: string) =>
        [...html.matchAll(/<form method="post" action="(\/dashboard\/[^"]+)">(.*?)<\/form>/gs)].flatMap(([, action = '', form = '']) =>
            form.includes('class="button danger small"') ? [{ action, workspace: hiddenOf(form, '_workspace') }] : [],
        );

    const shownTo = async (person: Settled) => (await person.get(ACCESS)).html;

    async function mailOf(subject: string, email: string) {
        let message = await mail.mailTo(email);
        while (message.subject !== subject) message = await mail.mailTo(email);
        return message;
    }

    it('is listed with a way to remove each, whichever workspace is open', async () => {
        const ada = await settle(world);
        await ada.send('/dashboard/switch', { workspace: ada.values.workspace });
        const { key_id, webhook_id, monitor_id, batch_id, connection_id, passkey_id, invitation_id, user_id } = ada.values;
        const forms = formsOf(await shownTo(ada));
        const ids = [key_id, webhook_id, monitor_id, batch_id, connection_id, passkey_id, invitation_id, user_id];
        for (const id of ids) expect(forms.map(({ action }) => action).join(), id).to.include(id);
        for (const { action, workspace } of forms) {
            const sent = await ada.send(action, workspace === undefined ? {} : { _workspace: workspace });
            expect(sent.status, action).to.equal(303);
        }
        expect(wordsOf(await shownTo(ada))).to.include('Nothing: no keys');
    });

    it('is mailed and shown after a password reset', async () => {
        const ada = await settle(world);
        await removePasskey(world.app.db, ada.userId, ada.values.passkey_id);
        await visitor(world).send('/forgot', { email: ada.email }, { from: '/forgot' });
        const { link = '' } = await mailOf('Reset your password', ada.email);
        const token = new URL(link, world.base).searchParams.get('token') ?? '';
        const owner = visitor(world);
        const sent = await owner.send('/reset', { token, password: NEW_PASSWORD, revoke_keys: 'yes' }, { from: link });
        expect(sent.to).to.equal(ACCESS);
        const words = wordsOf((await owner.get(ACCESS)).html);
        expect(words).to.include('webhook').and.include('Free berths').and.include('Your new password is set').and.not.include('laptop');
        const { text } = await mailOf('Your password was changed', ada.email);
        expect(text)
            .to.include('Still active: 1 webhook, 1 monitor, 1 connection, 1 member.')
            .and.include(`${world.app.publicUrl()}${ACCESS}`);
    });

    it('is mailed after a change of the password, with the keys', async () => {
        const ada = await settle(world);
        await ada.send('/dashboard/settings/password', { password: PASSWORD, new_password: NEW_PASSWORD });
        const { text } = await mailOf('Your password was changed', ada.email);
        expect(text).to.include('Still active: 1 passkey, 2 API keys, 1 webhook, 1 monitor, 1 batch run, 1 connection, 2 invitations');
    });

    it('of other people is not listed', async () => {
        const [ada, bob] = [await settle(world), await settle(world)];
        const html = await shownTo(ada);
        for (const id of Object.values(bob.values)) if (id.includes('_')) expect(html, id).to.not.include(id);
    });
});
