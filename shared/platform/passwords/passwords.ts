import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Asker, createPasswordQueue } from './queue.ts';

/** Three rounds over blocks of 1 KiB. With 2^15 blocks this takes 32 MiB, which OWASP considers equal to Argon2id with 19 MiB. */
const ROUNDS = { r: 8, p: 3 } as const;
const KEY_BYTES = 32;
const MEMORY_BYTES = 64 * 1024 * 1024;

export type Passwords = ReturnType<typeof createPasswords>;

interface PasswordOptions {
    /** Binary logarithm of the number of blocks of new hashes. Existing hashes contain their own value. */
    cost: number;
    /** Number of hashes that are computed concurrently. They take cores from everything else in this process. */
    atOnce?: number;
    /** Maximum number of waiting hashes, of known browsers and of others each. Further requests are refused. */
    maxWaiting?: number;
}

const NOBODY: Asker = { client: '', account: '', isKnown: false };

/**
 * Hashes and checks passwords for one process. A flood of sign-ins waits in this queue, not in front of the API
 * (shared/platform/passwords/queue.ts). Both functions throw Refusal OVERLOADED if too many requests wait already.
 */
export function createPasswords(options: PasswordOptions) {
    const { cost, atOnce = Math.max(1, Math.floor(availableParallelism() / 2)), maxWaiting = 256 } = options;
    const queue = createPasswordQueue({ atOnce, maxWaiting });
    // No password has this hash, because its key is shorter than any derived key.
    const nobody = ['scrypt', cost, ROUNDS.r, ROUNDS.p, randomBytes(16).toString('base64url'), 'AA'].join('$');

    return {
        /** Returns a salted hash that contains its parameters. */
        hash: (password: string, asker = NOBODY) =>
            queue.run(asker, async () => {
                const salt = randomBytes(16);
                const key = await derive(password, salt, { log2N: cost, ...ROUNDS });
                return ['scrypt', cost, ROUNDS.r, ROUNDS.p, salt.toString('base64url'), key.toString('base64url')].join('$');
            }),
        /** Whether the password matches. Without a hash: false after the same time, so that accounts cannot be enumerated. */
        matches: (password: string, hash: string | null | undefined, asker = NOBODY) =>
            queue.run(asker, async () => {
                const [, log2N, r, p, salt = '', key = ''] = (hash ?? nobody).split('$');
                const how = { log2N: Number(log2N), r: Number(r), p: Number(p) };
                const derived = await derive(password, Buffer.from(salt, 'base64url'), how);
                const expected = Buffer.from(key, 'base64url');
                return expected.length === derived.length && timingSafeEqual(derived, expected);
            }),
    };
}

/** Normalises the password, so that texts that look the same match, whatever keyboard they were typed on. */
function derive(password: string, salt: Buffer, how: { log2N: number; r: number; p: number }): Promise<Buffer> {
    const options: ScryptOptions = { N: 2 ** how.log2N, r: how.r, p: how.p, maxmem: MEMORY_BYTES };
    return new Promise((resolve, reject) => {
        scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error)));
    });
}
