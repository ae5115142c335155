import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'maildev',
    host: 'mail.test',
    ready: '/email',
    visit,
    start: (_, port, npm) =>
        node(
            npm,
            'maildev/dist/bin/maildev.js',
            '--web',
            String(port),
            '--smtp',
            String(port + 1000),
            '--ip',
            '127.0.0.1',
            '--web-ip',
            '127.0.0.1',
        ),
};

/** Reads mails that an application sent. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await sendMails(Number(new URL(base).port) + 1000);
    await open(page, `${base}/`);
    await page.waitForTimeout(1000);
    const mails = (await page.evaluate(async () => await (await fetch('/email')).json())) as { id: string }[];
    for (const { id } of mails.slice(0, 3)) {
        await ask(page, 'GET', `/email/${id}`);
        await ask(page, 'GET', `/email/${id}/html`);
        await ask(page, 'GET', `/email/${id}/source`);
    }
    await ask(page, 'GET', '/config');
    await ask(page, 'GET', '/healthz');
    await ask(page, 'GET', '/email?skip=1');
    for (const subject of ['Tides', 'Ropes']) await ask(page, 'GET', `/email?subject=${subject}`);
    await ask(page, 'PATCH', '/email/read-all');
    for (const { id } of mails.slice(0, 2)) await ask(page, 'DELETE', `/email/${id}`);
    await page.close();
}

async function sendMails(port: number): Promise<void> {
    const { createTransport } = (await import('nodemailer')).default;
    const mailer = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
    for (const subject of ['Tides', 'Ropes', 'Lights'])
        await mailer.sendMail({
            from: 'keeper@harbour.example',
            to: 'crew@harbour.example',
            subject,
            text: `About ${subject}`,
            html: `<p>About ${subject}</p>`,
        });
    mailer.close();
}
