import { expect } from 'chai';
import { terminalLog } from '../bin/terminal-log.ts';
import { newSecretKey } from '../shared/domain/accounts/key-ring.ts';
import { openPostman, type Postman } from '../shared/mail/mail.ts';
import type { Db } from '../shared/platform/db.ts';
import { createLog } from '../shared/platform/log.ts';
import type { Secrets } from '../shared/platform/secrets.ts';
import { newLinkId, tokenOfLink } from '../shared/store/accounts/mail-links.ts';
import { queueMail } from '../shared/store/accounts/mails.ts';
import { type MailServer, openMailServer } from './dashboard/support/mail-server.ts';
import { type OpenedDatabase, openDatabase } from './store/registry.ts';
import { advanceClock } from './support/clock.ts';
import { testSecrets } from './support/secrets.ts';

type Operator = Parameters<typeof openPostman>[0]['operator'];

describe('mail', () => {
    it('without a mail server leaves its link in one readable line of the terminal', () => {
        let shown = '';
        const log = createLog('warn', terminalLog({ write: (text) => (shown += text) }));
        log.warn(
            { mail_to: 'ada@people.example', mail_link: 'http://localhost:8080/verify?token=t', mail_text: 'Hello.' },
            'not mailed: Hi',
        );
        expect(shown).to.equal(
            '\nwarning: not mailed: Hi\n  mail to: ada@people.example\n  mail link: http://localhost:8080/verify?token=t\n',
        );
        log.warn({ part: 'queue', err: new Error('timeout expired') }, 'queue: does not work at the moment');
        expect(shown).to.match(/\nwarning: queue: does not work at the moment\n {2}error: timeout expired\n$/);
    });

    let database: OpenedDatabase;
    let db: Db;
    let secrets: Secrets;
    let server: MailServer;
    let logged: Record<string, unknown>[];
    let opened: Postman[];

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
        secrets = testSecrets(db);
        server = await openMailServer();
    });
    beforeEach(() => {
        logged = [];
        opened = [];
    });
    afterEach(async () => {
        for (const postman of opened) await postman.close();
        await db.raw('delete from outgoing_mails');
    });
    after(async () => {
        await server.close();
        await database.close();
    });

    const nobody: Operator = { name: undefined, contact: undefined };

    function postman(
        smtpUrl: string | undefined = server.url,
        { operator = nobody, sender }: { operator?: Operator; sender?: string } = {},
    ): Postman {
        const log = createLog('info', { write: (line: string) => void logged.push(JSON.parse(line)) });
        const made = openPostman({
            db,
            secrets,
            log,
            mail: { smtpUrl, from: sender },
            operator,
            publicUrl: () => 'https://routebook.example',
            everyMs: 5000,
        });
        opened.push(made);
        return made;
    }

    const message = (to: string) => ({ to, subject: 'A subject', text: 'First line.\n\nhttps://routebook.example/verify?token=abc\n' });
    const waiting = async () => (await db.raw('select count(*) from outgoing_mails')).rows[0].count;

    it('is sent as plain text, from an address of this service, and then deleted', async () => {
        await queueMail(db, secrets, message('ada@people.example'));
        await postman().flush();
        const { from, subject, text } = await server.mailTo('ada@people.example');
        expect({ from, subject }).to.deep.equal({ from: 'Routebook <no-reply@routebook.example>', subject: 'A subject' });
        expect(text).to.include('https://routebook.example/verify?token=abc');
        expect(await waiting()).to.equal(0);
    });

    it('ends with who sends it and who answers questions, and a reply reaches them', async () => {
        const operator = { name: 'Harbour {token} Ltd', contact: 'help@harbour.example' };
        await queueMail(db, secrets, message('ada@people.example'));
        await postman(undefined, { operator }).flush();
        const named = await server.mailTo('ada@people.example');
        expect(named.text.replaceAll('\r', '')).to.match(
            /\n-- \nRoutebook at https:\/\/routebook\.example, run by Harbour \{token\} Ltd\nQuestions\? Write to help@harbour\.example\n*$/,
        );
        expect(named.replyTo).to.equal('help@harbour.example');
        await queueMail(db, secrets, message('ada@people.example'));
        await postman(undefined, { operator, sender: 'Harbour <hello@harbour.example>' }).flush();
        const { from, replyTo } = await server.mailTo('ada@people.example');
        expect({ from, replyTo }).to.deep.equal({ from: 'Harbour <hello@harbour.example>', replyTo: undefined });
        await queueMail(db, secrets, message('ada@people.example'));
        await postman().flush();
        const plain = await server.mailTo('ada@people.example');
        expect(plain.text.replaceAll('\r', '')).to.match(/\n-- \nRoutebook at https:\/\/routebook\.example\n*$/);
        expect(plain.replyTo).to.equal(undefined);
    });

    it('is sent once, even if several processes read the outbox at the same time', async () => {
        for (let count = 0; count < 30; count++) await queueMail(db, secrets, message('grace@people.example'));
        await Promise.all([postman(), postman(), postman()].map((each) => each.flush()));
        expect(server.mails.filter(({ to }) => to === 'grace@people.example')).to.have.length(30);
    });

    it('gets its link in the right place, whatever names people in it have chosen', async () => {
        const linkId = newLinkId();
        const text = 'ada invites you to "The {token}".\n\nhttps://routebook.example/invite/{token}\n';
        await queueMail(db, secrets, { ...message('ada@people.example'), text, linkId });
        await postman().flush();
        const sent = await server.mailTo('ada@people.example');
        expect(sent.link).to.equal(`/invite/${await tokenOfLink(secrets, linkId)}`);
        expect(sent.text).to.include('"The {token}"');
    });

    it('is encrypted while it waits: the database shows no subject, text or link', async () => {
        await queueMail(db, secrets, message('ada@people.example'));
        const { rows } = await db.raw('select to_jsonb(m) as row, sealed from outgoing_mails m');
        expect(rows).to.have.length(1);
        const dump = `${JSON.stringify(rows[0].row)} ${rows[0].sealed.toString('latin1')}`;
        for (const text of ['A subject', 'First line', 'token=abc']) {
            expect(dump).not.to.include(text).and.not.to.include(Buffer.from(text).toString('hex'));
        }
    });

    it('waits for a process that has its key, and is not sent without its text', async () => {
        const others = testSecrets(db, newSecretKey('other'));
        await queueMail(db, others, message('sealed@people.example'));
        await postman().flush();
        expect(server.mails.filter(({ to }) => to === 'sealed@people.example')).to.deep.equal([]);
        expect(await waiting()).to.equal(1);
        expect(JSON.stringify(logged)).to.include('no key of SECRET_KEYS decrypts it');
    });

    it('is not sent if the transaction of its cause fails', async () => {
        await db
            .transaction(async (trx) => {
                await queueMail(trx, secrets, message('nobody@people.example'));
                throw new Error('undone');
            })
            .catch(() => undefined);
        await postman().flush();
        expect(server.mails.filter(({ to }) => to === 'nobody@people.example')).to.deep.equal([]);
    });

    it('waits if the server refuses temporarily, and is given up if it refuses permanently', async () => {
        server.refuseWith(451);
        await queueMail(db, secrets, message('later@people.example'));
        await postman().flush();
        expect(await waiting()).to.equal(1);
        server.refuseWith(0);
        await advanceClock(db, 180_000);
        await postman().flush();
        expect((await server.mailTo('later@people.example')).subject).to.equal('A subject');
        server.refuseWith(550);
        await queueMail(db, secrets, message('never@people.example'));
        await postman().flush();
        expect(await waiting()).to.equal(0);
        server.refuseWith(0);
    });

    it('waits while no server is reachable', async () => {
        await queueMail(db, secrets, message('away@people.example'));
        await postman('smtp://127.0.0.1:1').flush();
        expect(await waiting()).to.equal(1);
        expect(logged.map(({ message }) => message)).to.include('a mail could not be sent');
    });

    it('is in the log if no server is configured, so that its link can be opened', async () => {
        await queueMail(db, secrets, message('log@people.example'));
        const log = createLog('warn', { write: (line: string) => void logged.push(JSON.parse(line)) });
        const made = openPostman({
            db,
            secrets,
            log,
            mail: { smtpUrl: undefined, from: undefined },
            operator: nobody,
            publicUrl: () => 'http://localhost:8080',
            everyMs: 5000,
        });
        opened.push(made);
        await made.flush();
        expect(logged).to.have.length(1);
        expect(JSON.stringify(logged)).to.include('https://routebook.example/verify?token=abc').and.include('log@people.example');
        expect(await waiting()).to.equal(0);
    });
});
