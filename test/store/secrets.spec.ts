import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { keepSecretKeys, readSecretKeys } from '../../bin/secret-keys.ts';
import { newSecretKey } from '../../shared/domain/accounts/key-ring.ts';
import { readConfig } from '../../shared/platform/config.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createLog } from '../../shared/platform/log.ts';
import { createSecrets } from '../../shared/platform/secrets.ts';
import { ConfigFault } from '../../shared/platform/settings-reader.ts';
import { base64InTurns, bytesInTurns, textInTurns, toBase64InTurns } from '../../shared/platform/turns.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { testSecretKeys } from '../support/secrets.ts';

/** Longer texts are encrypted in several pieces. */
const PIECE = 512 * 1024;

describe('the key ring', () => {
    let database: TestDatabase;
    let db: Db;
    const warned: string[] = [];
    const log = createLog('warn', { write: (line: string) => void warned.push(line) });
    const open = (text: string) => createSecrets({ db, keys: text === '' ? [] : testSecretKeys(text), log });
    const [old, young] = [newSecretKey('2026-01'), newSecretKey('2026-02')];

    before(async () => {
        database = await createTestDatabase();
        db = openDb({ url: database.url, acquireTimeoutMs: 10_000 });
    });

    after(async () => {
        await db.destroy();
        await database.drop();
    });

    it('decrypts what it encrypted, for the same purpose only', async () => {
        const secrets = open(old);
        for (const plain of ['', 'ü', 'x'.repeat(100_000)]) {
            const sealed = await secrets.seal(plain, 'mail');
            expect((await secrets.open(sealed, 'mail'))?.toString()).to.equal(plain);
            expect(await secrets.open(sealed, 'result')).to.equal(undefined);
        }
        const bytes = randomBytes(1000);
        expect((await secrets.open(await secrets.seal(bytes, 'mail'), 'mail'))?.equals(bytes)).to.equal(true);
    });

    it('never uses a salt and a nonce together twice', async () => {
        const secrets = open(old);
        const start = 2 + '2026-01'.length;
        const used = new Set<string>();
        for (let text = 0; text < 2500; text++) {
            const sealed = await secrets.seal('the same', 'mail');
            used.add(sealed.toString('hex', start, start + 16 + 12));
        }
        expect(used.size).to.equal(2500);
    });

    it('prepares nonces for 16 texts at first, and for 1,000 from then on', async () => {
        const secrets = open(old);
        const start = 2 + '2026-01'.length;
        const texts = new Map<string, number>();
        for (let text = 0; text < 1100; text++) {
            const salt = (await secrets.seal('the same', 'mail')).toString('hex', start, start + 16);
            texts.set(salt, (texts.get(salt) ?? 0) + 1);
        }
        expect([...texts.values()]).to.deep.equal([16, 1000, 84]);
    });

    it('yields to others during long texts, which are decrypted unchanged', async () => {
        const secrets = open(old);
        let turns = 0;
        let isDone = false;
        const others = (async () => {
            for (; !isDone; turns += 1) await nextTurn();
        })();
        const long = ['x'.repeat(5_000_000), `${'a'.repeat(PIECE - 1)}😀${'ü😀'.repeat(PIECE)}`, '😀'.repeat(PIECE), 'x'.repeat(PIECE)];
        for (const plain of long) {
            const before = turns;
            const sent = await toBase64InTurns(await secrets.seal(plain, 'mail'));
            const opened = await secrets.open(await base64InTurns(sent), 'mail');
            const text = opened && (await textInTurns(opened));
            expect(text === plain, `${plain.length} characters from ${plain.slice(0, 1)}`).to.equal(true);
            expect((await bytesInTurns(plain)).equals(Buffer.from(plain))).to.equal(true);
            if (plain.length > PIECE) expect(turns - before).to.be.greaterThan(plain.length / PIECE);
            const changed = Buffer.from(sent, 'base64');
            changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
            expect(await secrets.open(changed, 'mail')).to.equal(undefined);
        }
        isDone = true;
        await others;
    });

    it('encrypts the same text differently each time', async () => {
        const secrets = open(old);
        const forms = await Promise.all(Array.from({ length: 100 }, async () => (await secrets.seal('same', 'mail')).toString('hex')));
        expect(new Set(forms)).to.have.property('size', 100);
    });

    it('decrypts nothing that was changed, cut or invented', async () => {
        const secrets = open(old);
        const sealed = await secrets.seal('a text', 'mail');
        for (let place = 0; place < sealed.length; place++) {
            const changed = Buffer.from(sealed);
            changed[place] = (changed[place] ?? 0) ^ 1;
            expect(await secrets.open(changed, 'mail'), `byte ${place}`).to.equal(undefined);
            expect(await secrets.open(sealed.subarray(0, place), 'mail'), `${place} bytes`).to.equal(undefined);
        }
        for (const made of [Buffer.alloc(0), Buffer.from('{"plain":"text"}'), randomBytes(200)]) {
            expect(await secrets.open(made, 'mail')).to.equal(undefined);
        }
    });

    it('encrypts with its first key and decrypts with all of them, so that keys can be rotated', async () => {
        const [before, during, after] = [open(old), open(`${young},${old}`), open(young)];
        const sealed = await before.seal('a text', 'mail');
        expect((await during.open(sealed, 'mail'))?.toString()).to.equal('a text');
        expect([await before.isCurrent(sealed), await during.isCurrent(sealed)]).to.deep.equal([true, false]);
        expect(await after.open(sealed, 'mail')).to.equal(undefined);
        const renewed = await during.seal('a text', 'mail');
        expect((await after.open(renewed, 'mail'))?.toString()).to.equal('a text');
        const mac = await before.hmac('lnk_1', 'link');
        expect(await during.isHmac(mac, 'lnk_1', 'link')).to.equal(true);
        expect(await during.isHmac(mac, 'lnk_2', 'link')).to.equal(false);
        expect(await during.isHmac(mac, 'lnk_1', 'other')).to.equal(false);
        expect(await after.isHmac(mac, 'lnk_1', 'link')).to.equal(false);
        expect((await during.hmac('lnk_1', 'link')).equals(await after.hmac('lnk_1', 'link'))).to.equal(true);
    });

    it('is one in the database for all processes if SECRET_KEYS is not set, and each start warns of it', async () => {
        warned.length = 0;
        const [one, two] = [open(''), open('')];
        const [first, second] = await Promise.all([one.seal('first', 'mail'), two.seal('second', 'mail')]);
        expect((await two.open(first, 'mail'))?.toString()).to.equal('first');
        expect((await one.open(second, 'mail'))?.toString()).to.equal('second');
        expect([one.isConfigured, open(old).isConfigured]).to.deep.equal([false, true]);
        expect(warned).to.have.length(2);
        expect(warned[0]).to.include('SECRET_KEYS is not set');
        // Once SECRET_KEYS is set, data of the database's ring can still be decrypted.
        const later = open(old);
        expect((await later.open(first, 'mail'))?.toString()).to.equal('first');
        expect(await later.isCurrent(first)).to.equal(false);
        expect(await later.isHmac(await one.hmac('lnk_1', 'link'), 'lnk_1', 'link')).to.equal(true);
    });

    it('is read from the database again if that was down', async () => {
        const nowhere = openDb({ url: 'postgresql://nobody@127.0.0.1:1/none', acquireTimeoutMs: 100 });
        const secrets = createSecrets({ db: nowhere, keys: [], log });
        for (let round = 0; round < 2; round++) {
            const failure = await secrets.seal('a text', 'mail').catch((error: unknown) => error);
            expect(failure).to.be.an('error');
        }
        await nowhere.destroy();
        const configured = createSecrets({ db: nowhere, keys: testSecretKeys(old), log });
        expect((await configured.open(await configured.seal('a text', 'mail'), 'mail'))?.toString()).to.equal('a text');
    });
});

describe('SECRET_KEYS', () => {
    it('that are invalid are reported at the start, without a key in the line', () => {
        const secret = randomBytes(32).toString('base64');
        const wrong: Record<string, RegExp> = {
            [secret]: /entry 1 does not have exactly one colon/,
            [`a b:${secret}`]: /entry 1 has an id that/,
            [`:${secret}`]: /entry 1 has an id that/,
            [`one:${secret},one:${secret}`]: /entry 2 repeats the id of an earlier entry/,
            [`one:${secret},two:${secret.slice(0, 20)}`]: /entry 2 has a key of 15 bytes instead of 32/,
            [`one:${secret.slice(0, 30)}!${secret.slice(30)}`]: /entry 1 has a key that is not base64/,
            [`one:${secret},`]: /entry 2 does not have exactly one colon/,
        };
        for (const [value, fault] of Object.entries(wrong)) {
            expect(() => readConfig({ SECRET_KEYS: value }), value).to.throw(ConfigFault, fault);
            expect(() => readConfig({ SECRET_KEYS: value }), value).to.throw(
                '; for example SECRET_KEYS="2026-11:$(openssl rand -base64 32)"',
            );
            expect(() => readConfig({ SECRET_KEYS: value }), value).not.to.throw(secret.slice(0, 20));
        }
    });

    it('are never printed with the settings', () => {
        const secret = randomBytes(32);
        const config = readConfig({ SECRET_KEYS: `one:${secret.toString('base64')}` });
        expect(config.secretKeys.map(({ id }) => id)).to.deep.equal(['one']);
        expect(JSON.stringify(config)).not.to.include(secret.toString('base64'));
    });

    it('are created by npm start, once, readable by its user only', () => {
        const folder = mkdtempSync(join(tmpdir(), 'routebook-keys-'));
        try {
            expect(readSecretKeys(folder)).to.deep.equal([]);
            const [made] = keepSecretKeys(folder);
            const file = join(folder, 'secret-keys');
            expect(statSync(file).mode & 0o777).to.equal(0o600);
            const text = readFileSync(file, 'utf8');
            expect(keepSecretKeys(folder)[0]?.key.equals(made?.key as never)).to.equal(true);
            expect(readFileSync(file, 'utf8')).to.equal(text);
            writeFileSync(file, 'half');
            expect(() => keepSecretKeys(folder)).to.throw(ConfigFault, `${file}: must be id:base64 pairs`);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });
});
