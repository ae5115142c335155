import { createKeyRing, type KeyRing, newSecretKey, parseSecretKeys, type SecretKey } from '../../shared/domain/accounts/key-ring.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createLog } from '../../shared/platform/log.ts';
import { createSecrets, type Secrets } from '../../shared/platform/secrets.ts';

/** SECRET_KEYS of tests: one ring, so that processes of one test open what others sealed. */
export const TEST_SECRET_KEYS = `test:${Buffer.alloc(32, 'a key of tests and of nobody else').toString('base64')}`;

/** The ring of tests, over any database. */
export function testSecrets(db: Db, text = TEST_SECRET_KEYS): Secrets {
    return createSecrets({ db, keys: testSecretKeys(text), log: createLog('silent') });
}

/** The ring of tests where no database is at hand: a ring from the settings asks none. */
export function testSecretsAlone(): Secrets {
    return testSecrets(openDb({ url: 'postgresql://nobody@127.0.0.1:1/none' }));
}

/** The same, as the settings read it. */
export function testSecretKeys(text = TEST_SECRET_KEYS): readonly SecretKey[] {
    const parsed = parseSecretKeys(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.keys;
}

/** A ring that has no key in common with the others. */
export function newTestSecretKeys(): KeyRing {
    const [key] = testSecretKeys(newSecretKey('another'));
    if (key === undefined) throw new Error('a new key is one key');
    return createKeyRing([key]);
}
