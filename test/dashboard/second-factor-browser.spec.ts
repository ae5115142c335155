import { expect } from 'chai';
import { generate } from 'otplib';
import type { Browser, CDPSession } from 'playwright-core';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, type Tab } from './support/browser.ts';
import { userOf } from './support/settled.ts';
import { freshAddress, PASSWORD, signUp, type Visitor } from './support/visitor.ts';

const FACTORS = '/dashboard/settings/factors';

describe('a second factor in a browser', () => {
    let world: World;
    let browser: Browser;

    before(async function () {
        browser = await openBrowser(this);
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    /** Browsers support passkeys on localhost, but not on an IP address. */
    const base = () => world.base.replace('127.0.0.1', 'localhost');

    async function tabOf(person?: Visitor): Promise<Tab> {
        const tab = await openTab(browser, base(), {});
        await tab.context.addCookies([...(person?.cookies ?? [])].map(([name, value]) => ({ name, value, url: base() })));
        return tab;
    }

    /** A device with a fingerprint reader that recognises its owner. */
    async function giveDevice(tab: Tab): Promise<{ cdp: CDPSession; authenticatorId: string }> {
        const cdp = await tab.context.newCDPSession(tab.page);
        await cdp.send('WebAuthn.enable');
        const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
            options: {
                protocol: 'ctap2',
                transport: 'internal',
                hasResidentKey: true,
                hasUserVerification: true,
                isUserVerified: true,
                automaticPresenceSimulation: true,
            },
        });
        return { cdp, authenticatorId };
    }

    const signOut = async ({ page }: Tab) => {
        await page.goto('/dashboard');
        await page.locator('.person-menu summary').click();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL(/\/login$/);
    };
    const givePassword = async ({ page }: Tab, email: string) => {
        await page.goto('/login');
        await page.getByLabel('Email').fill(email);
        await page.getByLabel('Password').fill(PASSWORD);
        await page.getByRole('button', { name: 'Sign in' }).click();
    };
    const arrives = (tab: Tab) => tab.page.waitForURL(/\/dashboard$/);
    const addPasskey = async ({ page }: Tab, name: string) => {
        await page.goto(FACTORS);
        await page.getByRole('link', { name: 'Add a passkey' }).click();
        await page.getByLabel('Name').fill(name);
        await page.getByRole('button', { name: 'Create passkey' }).click();
    };

    it('is an authenticator app: set up in the settings, required when signing in', async () => {
        const email = freshAddress();
        const tab = await tabOf(await signUp(world, email));
        const { page } = tab;
        await tab.visit(FACTORS);
        await page.getByRole('link', { name: 'Set up an app' }).click();
        const secret = ((await page.locator('#totp-secret').textContent()) ?? '').replaceAll(/\s/g, '');
        await tab.look();
        const code = () => generate({ secret, epoch: Math.floor(world.app.clock.now() / 1000) });
        await page.getByRole('textbox', { name: 'Code' }).fill(await code());
        await page.getByRole('button', { name: 'Turn on' }).click();
        await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
        const [recovery = ''] = ((await page.locator('#recovery-codes').textContent()) ?? '').split('\n');
        await tab.look();
        await page.getByRole('link', { name: 'I saved them' }).click();
        await page.getByText('10 of 10 left').waitFor();
        await signOut(tab);

        await givePassword(tab, email);
        await page.getByRole('heading', { name: 'Second factor' }).waitFor();
        await tab.look();
        await world.clock.advance({ seconds: 31 });
        await page.getByRole('textbox', { name: 'Code' }).fill(await code());
        await page.getByRole('button', { name: 'Sign in' }).click();
        await arrives(tab);
        await signOut(tab);

        await givePassword(tab, email);
        await page.getByRole('textbox', { name: 'Code' }).fill(recovery);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await arrives(tab);
        await tab.close();
    });

    it('is a passkey: created in the settings, it signs in without the password, confirms a step, and is removed', async () => {
        const email = freshAddress();
        const tab = await tabOf(await signUp(world, email));
        const { page } = tab;
        const { cdp, authenticatorId } = await giveDevice(tab);
        await addPasskey(tab, 'laptop');
        await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
        await page.getByRole('link', { name: 'I saved them' }).click();
        await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
        await tab.look();
        const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
        expect(credentials).to.have.length(1);
        await signOut(tab);

        await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
        await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
        await tab.look();
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await arrives(tab);

        await world.clock.advance({ minutes: 16 });
        await page.goto(`${FACTORS}/totp`);
        await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor();
        await tab.look();
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await page.waitForURL(/\/factors\/totp$/);

        await world.clock.advance({ minutes: 16 });
        await page.goto('/dashboard/webhooks');
        await page.getByLabel('URL').fill('https://hooks.example/in');
        await page.getByRole('button', { name: 'Add webhook' }).click();
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await page.waitForURL(/\/webhooks\?typed=[^#]+#new$/);
        expect(await page.getByLabel('URL').inputValue()).to.equal('https://hooks.example/in');

        await page.goto(FACTORS);
        // A click by mistake loses nothing.
        await page.getByText('Remove …').click();
        await page.getByRole('button', { name: 'Not now' }).click();
        await page.getByText('Remove …').click();
        await page.getByRole('button', { name: 'Remove passkey' }).click();
        await page.getByText('The second factor is removed.').waitFor();
        await signOut(tab);
        await page.goto('/login/passkey');
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await page.getByText('This passkey was not accepted').waitFor();
        await givePassword(tab, email);
        await arrives(tab);
        await tab.close();
    });

    it('is a passkey after the password, too; several are listed by name, the same device is not added twice', async () => {
        const email = freshAddress();
        const tab = await tabOf(await signUp(world, email));
        const { page } = tab;
        const first = await giveDevice(tab);
        await addPasskey(tab, 'laptop');
        await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
        await addPasskey(tab, 'laptop again');
        await page.getByText('already has a passkey for your account').waitFor();
        await first.cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: first.authenticatorId });
        await giveDevice(tab);
        await addPasskey(tab, 'security key');
        await page.getByRole('rowheader', { name: 'security key' }).waitFor();
        await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
        await signOut(tab);
        await givePassword(tab, email);
        await page.getByRole('heading', { name: 'Second factor' }).waitFor();
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await arrives(tab);
        await tab.close();
    });

    it('is no passkey that fails to verify its user, or that was copied', async () => {
        const email = freshAddress();
        const tab = await tabOf(await signUp(world, email));
        const { page } = tab;
        const { cdp, authenticatorId } = await giveDevice(tab);
        await addPasskey(tab, 'laptop');
        await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
        await signOut(tab);
        await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
        await page.goto('/login/passkey');
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await page.getByText('No passkey was used').waitFor();
        await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
        // The original was used more often than this copy.
        const userId = await userOf(world, email);
        await world.app.db.raw('update passkeys set counter = 1000000000 where user_id = ?', [userId]);
        await page.getByRole('button', { name: 'Use a passkey' }).click();
        await page.getByText('This passkey was not accepted').waitFor();
        await tab.close();
    });
});
