import { createKeyRing, type KeyRing, newSecretKey, parseSecretKeys, type SecretKey } from '../../shared/domain/accounts/key-ring.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createLog } from '../../shared/platform/log.ts';
import { createSecrets, type Secrets } from '../../shared/platform/secrets.ts';

/** SECRET_KEYS of tests: one ring, so that processes of one test can decrypt each other's data. */
export const TEST_SECRET_KEYS = `test:${Buffer.alloc(32, 'a key of tests and of nobody else').toString('base64')}`;

/** The test key ring with any database. */
export function testSecrets(db: Db, text = TEST_SECRET_KEYS): Secrets {
    return createSecrets({ db, keys: testSecretKeys(text), log: createLog('silent') });
}

/** The test key ring without a database: a ring from the settings does not use one. */
export function testSecretsAlone(): Secrets {
    return testSecrets(openDb({ url: 'postgresql://nobody@127.0.0.1:1/none' }));
}

/** The same keys, as the settings parse them. */
export function testSecretKeys(text = TEST_SECRET_KEYS): readonly SecretKey[] {
    const parsed = parseSecretKeys(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.keys;
}

/** A key ring without any of the other keys. */
export function newTestSecretKeys(): KeyRing {
    const [key] = testSecretKeys(newSecretKey('another'));
    if (key === undefined) throw new Error('a new key is one key');
    return createKeyRing([key]);
}
