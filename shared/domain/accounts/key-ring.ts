import {
    type Cipheriv,
    createCipheriv,
    createDecipheriv,
    createHmac,
    createSecretKey,
    hkdfSync,
    type KeyObject,
    randomBytes,
    timingSafeEqual,
} from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { getOrMake } from '../get-or-make.ts';

/** A key of the installation, 256 bits. It is a KeyObject, so that logs and errors never contain its bytes. */
export interface SecretKey {
    id: string;
    key: KeyObject;
}

/** The first key encrypts, all keys decrypt. What was encrypted for one purpose cannot be decrypted for another. */
export interface KeyRing {
    seal(plain: Buffer | string, purpose: string): Buffer;
    /** Undefined if no key of the ring decrypts it: the key is missing, the purpose differs, or the text was changed. */
    open(sealed: Buffer, purpose: string): Buffer | undefined;
    /** Like `seal`, in steps, for long texts. */
    sealing(plain: Buffer, purpose: string): Steps<Buffer>;
    opening(sealed: Buffer, purpose: string): Steps<Buffer | undefined>;
    /** A 32-byte HMAC with the first key. */
    hmac(text: string, purpose: string): Buffer;
    isHmac(mac: Buffer, text: string, purpose: string): boolean;
    has(id: string): boolean;
    isCurrent(sealed: Buffer): boolean;
}

/** Work that pauses after each step. */
type Steps<Result> = Generator<void, Result, void>;

export const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;

/** Parses `id:base64` pairs separated by commas. The problem never contains a key. */
export function parseSecretKeys(text: string): { ok: true; keys: SecretKey[] } | { ok: false; problem: string } {
    const keys: SecretKey[] = [];
    for (const [index, entry] of text.split(',').entries()) {
        const fault = (what: string) => ({
            ok: false as const,
            problem: `must be id:base64 pairs separated by commas; entry ${index + 1} ${what}`,
        });
        const [id = '', encoded, ...more] = entry.trim().split(':');
        if (encoded === undefined || more.length > 0) return fault('does not have exactly one colon');
        if (!ID.test(id)) return fault('has an id that is not 1 to 32 letters, digits, - and _');
        if (keys.some((key) => key.id === id)) return fault('repeats the id of an earlier entry');
        if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return fault('has a key that is not base64');
        const bytes = Buffer.from(encoded, 'base64');
        if (bytes.length !== KEY_BYTES) return fault(`has a key of ${bytes.length} bytes instead of ${KEY_BYTES}`);
        keys.push({ id, key: createSecretKey(bytes) });
    }
    return { ok: true, keys };
}

export function newSecretKey(id: string): string {
    return `${id}:${randomBytes(KEY_BYTES).toString('base64')}`;
}

const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Number of bytes of a step. */
const STEP = 512 * 1024;

/**
 * Number of texts that are encrypted with the same salt, and so with the same derived key. The first salt of a ring serves fewer: the ring
 * of a workspace often encrypts a single text, and drawing 1,000 nonces would take longer than that.
 */
const TEXTS_PER_SALT = 1000;
const TEXTS_OF_FIRST_SALT = 16;
/** Number of derived keys that a ring caches for decryption. */
const MAX_CACHED = 64;

/**
 * AES-256-GCM. A sealed text consists of: version, length of the key id, key id, salt, nonce, tag, ciphertext. The salt and the key of the
 * purpose give the key of the text. A salt serves up to 1,000 texts: a derivation takes longer than the encryption of a short text. It
 * serves no more, because random nonces under one key are safe for only 2^32 texts (NIST SP 800-38D, section 8.3).
 */
export function createKeyRing(keys: readonly [SecretKey, ...SecretKey[]]): KeyRing {
    const byId = new Map(keys.map((key) => [key.id, key]));
    const [first] = keys;
    const { sealKeyFor, openKeyFor, macBy } = deriveKeys(first);
    const encryptedPart = (sealed: Buffer, purpose: string): EncryptedPart | undefined => {
        const id = keyIdOf(sealed);
        const key = id === undefined ? undefined : byId.get(id);
        if (key === undefined) return undefined;
        const start = 2 + key.id.length;
        const [salt, nonce, tag, body] = cut(sealed.subarray(start), SALT_BYTES, NONCE_BYTES, TAG_BYTES);
        if (tag.length !== TAG_BYTES) return undefined;
        return { ...openKeyFor(key, purpose, salt), nonce, tag, body };
    };
    const header = headerOf(first.id);
    const ring: Pick<KeyRing, 'sealing' | 'opening'> = {
        *sealing(plain, purpose) {
            const { salt, key, associated, nonces, textsLeft } = sealKeyFor(purpose);
            const nonce = nonces.subarray(textsLeft * NONCE_BYTES, (textsLeft + 1) * NONCE_BYTES);
            const cipher = createCipheriv('aes-256-gcm', key, nonce);
            cipher.setAAD(associated);
            const start = header.length + SALT_BYTES + NONCE_BYTES + TAG_BYTES;
            const sealed = Buffer.allocUnsafe(start + plain.length);
            yield* inSteps(plain, cipher, sealed, start);
            cipher.final();
            sealed.set(header);
            sealed.set(salt, header.length);
            sealed.set(nonce, header.length + SALT_BYTES);
            sealed.set(cipher.getAuthTag(), start - TAG_BYTES);
            return sealed;
        },
        *opening(sealed, purpose) {
            return yield* decrypted(encryptedPart(sealed, purpose));
        },
    };
    return {
        ...ring,
        seal: (plain, purpose) => toEnd(ring.sealing(typeof plain === 'string' ? Buffer.from(plain) : plain, purpose)),
        open: (sealed, purpose) => toEnd(ring.opening(sealed, purpose)),
        hmac: (text, purpose) => macBy(first, text, purpose),
        isHmac: (mac, text, purpose) =>
            keys.some((key) => {
                const own = macBy(key, text, purpose);
                return own.length === mac.length && timingSafeEqual(own, mac);
            }),
        has: (id) => byId.has(id),
        isCurrent: (sealed) => keyIdOf(sealed) === first.id,
    };
}

/** Keys that a ring derives from its own. They are kept, because a derivation takes longer than the encryption of a short text. */
function deriveKeys(first: SecretKey) {
    const derived = new Map<string, KeyObject>();
    const keyFor = ({ id, key }: SecretKey, use: string): KeyObject =>
        getOrMake(derived, `${id}:${use}`, () => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `routebook:${use}`, KEY_BYTES))));
    const messageKey = (key: SecretKey, purpose: string, salt: Buffer) =>
        createSecretKey(
            createHmac('sha256', keyFor(key, `seal:${purpose}`))
                .update(salt)
                .digest(),
        );
    const sealKeys = new Map<string, SealKey>();
    const sealKeyFor = (purpose: string): SealKey => {
        let current = sealKeys.get(purpose);
        if (current === undefined || current.textsLeft === 0) {
            const salt = randomBytes(SALT_BYTES);
            const associated = associatedWith(first.id, purpose);
            // One call for all nonces: a call per nonce would take as long as the encryption of a short text.
            const texts = current === undefined ? TEXTS_OF_FIRST_SALT : TEXTS_PER_SALT;
            const nonces = randomBytes(NONCE_BYTES * texts);
            current = { salt, key: messageKey(first, purpose, salt), associated, nonces, textsLeft: texts };
            sealKeys.set(purpose, current);
        }
        current.textsLeft -= 1;
        return current;
    };
    const openKeys = new LRUCache<string, OpenKey>({ max: MAX_CACHED });
    const openKeyFor = (key: SecretKey, purpose: string, salt: Buffer): OpenKey =>
        getOrMake(openKeys, `${key.id}:${salt.toString('latin1')}:${purpose}`, () => ({
            key: messageKey(key, purpose, salt),
            associated: associatedWith(key.id, purpose),
        }));
    const macBy = (key: SecretKey, text: string, purpose: string) =>
        createHmac('sha256', keyFor(key, `hmac:${purpose}`))
            .update(text, 'utf8')
            .digest();
    return { sealKeyFor, openKeyFor, macBy };
}

/** The beginning of a sealed text. */
function headerOf(keyId: string): Buffer {
    return Buffer.from([VERSION, keyId.length, ...Buffer.from(keyId, 'latin1')]);
}

function associatedWith(keyId: string, purpose: string): Buffer {
    return Buffer.concat([headerOf(keyId), Buffer.from(purpose)]);
}

/** Encrypts or decrypts `bytes` into `result` from `start`. In GCM, the ciphertext has the length of the plaintext. */
function* inSteps(bytes: Buffer, cipher: Pick<Cipheriv, 'update'>, result: Buffer, start: number): Steps<void> {
    for (let at = 0; at < bytes.length; at += STEP) {
        if (at > 0) yield;
        result.set(cipher.update(bytes.subarray(at, at + STEP)), start + at);
    }
}

function toEnd<Result>(steps: Steps<Result>): Result {
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
}

interface OpenKey {
    key: KeyObject;
    /** Authenticated with the text. */
    associated: Buffer;
}

interface SealKey extends OpenKey {
    salt: Buffer;
    /** A nonce for each text. */
    nonces: Buffer;
    textsLeft: number;
}

interface EncryptedPart extends OpenKey {
    nonce: Buffer;
    tag: Buffer;
    body: Buffer;
}

function* decrypted(part: EncryptedPart | undefined): Generator<void, Buffer | undefined> {
    if (part === undefined) return undefined;
    const { key, nonce, tag, associated, body } = part;
    const decipher = createDecipheriv('aes-256-gcm', key, nonce);
    decipher.setAAD(associated);
    decipher.setAuthTag(tag);
    // A short text needs no copy.
    const isShort = body.length <= STEP;
    const plain = isShort ? decipher.update(body) : Buffer.allocUnsafe(body.length);
    if (!isShort) yield* inSteps(body, decipher, plain, 0);
    try {
        decipher.final();
        return plain;
    } catch {
        return undefined;
    }
}

/** The id of the key that encrypted it; undefined if it was not encrypted by a key ring. */
export function keyIdOf(sealed: Buffer): string | undefined {
    const length = sealed[1];
    if (sealed[0] !== VERSION || length === undefined || length === 0) return undefined;
    return sealed.toString('latin1', 2, 2 + length);
}

function cut(bytes: Buffer, one: number, two: number, three: number): [Buffer, Buffer, Buffer, Buffer] {
    const [second, third] = [one + two, one + two + three];
    return [bytes.subarray(0, one), bytes.subarray(one, second), bytes.subarray(second, third), bytes.subarray(third)];
}
