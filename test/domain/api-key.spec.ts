import { expect } from 'chai';
import { isWellFormedKey, keyHash, keyPrefix, newApiKey } from '../../shared/domain/accounts/api-key.ts';

describe('an API key', () => {
    it('has the prefix that secret scanners look for, thirty random characters and six that check them', () => {
        const key = newApiKey();
        expect(key).to.match(/^rb_live_[0-9A-Za-z]{36}$/);
        expect(isWellFormedKey(key)).to.equal(true);
        expect(newApiKey()).not.to.equal(key);
    });

    it('is checked by CRC-32/ISO-HDLC in base62, left-padded with 0', () => {
        // zlib.crc32(b'0' * 30) and of b'Routebook0Routebook0Routebook0', computed with Python.
        expect(isWellFormedKey('rb_live_' + '0'.repeat(30) + '2C8GjS')).to.equal(true);
        expect(isWellFormedKey('rb_live_' + 'Routebook0'.repeat(3) + '0WmleH')).to.equal(true);
    });

    it('is refused if any one character is mistyped', () => {
        const key = newApiKey();
        for (let at = 8; at < key.length; at++) {
            const other = key[at] === 'x' ? 'y' : 'x';
            expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1)), `position ${at}`).to.equal(false);
        }
    });

    it('is refused if it is truncated, longer, padded or of another kind', () => {
        const key = newApiKey();
        for (const wrong of [
            '',
            'rb_live_',
            key.slice(0, -1),
            `${key}0`,
            ` ${key}`,
            `${key}\n`,
            key.replace('rb_live_', 'sk_live_'),
            key.toUpperCase(),
        ]) {
            expect(isWellFormedKey(wrong), JSON.stringify(wrong)).to.equal(false);
        }
    });

    it('is stored as 32 bytes of SHA-256 and shown by its first 12 characters', () => {
        const key = newApiKey();
        expect(keyHash(key)).to.have.length(32);
        expect(keyHash(key).equals(keyHash(key))).to.equal(true);
        expect(keyPrefix(key)).to.equal(key.slice(0, 12));
    });
});
