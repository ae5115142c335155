import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key as PEM, created for one test run. */
export interface Certificate {
    cert: string;
    key: string;
}

/** Creates a certificate authority. A client that trusts it accepts certificates of `issueCertificate`. */
export function createAuthority(name = 'Test Authority'): Certificate {
    const { spki, key } = newKey();
    return { cert: build({ issuer: name, subject: name, spki, signer: key, isAuthority: true }), key };
}

interface IssueOptions {
    /** Whether it has expired. */
    expired?: boolean;
    issuer?: string;
    /** The URL of its list of revoked certificates. */
    crl?: string;
}

/** Creates a certificate for a host, signed by an authority. */
export function issueCertificate(
    authority: Certificate,
    host: string,
    { expired = false, issuer = 'Test Authority', crl }: IssueOptions = {},
): Certificate {
    const { spki, key } = newKey();
    return { cert: build({ issuer, subject: host, spki, signer: authority.key, host, expired, crl }), key };
}

function newKey(): { spki: Buffer; key: string } {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return {
        spki: publicKey.export({ type: 'spki', format: 'der' }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
}

interface Parts {
    issuer: string;
    subject: string;
    spki: Buffer;
    signer: string;
    isAuthority?: boolean;
    host?: string;
    expired?: boolean;
    crl?: string | undefined;
}

function build({ issuer, subject, spki, signer, isAuthority = false, host, expired = false, crl }: Parts): string {
    const algorithm = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));
    const constraints = sequence(oid([2, 5, 29, 19]), tagged(0x01, Buffer.from([0xff])), octets(sequence(...(isAuthority ? [TRUE] : []))));
    const names = host === undefined ? [] : [sequence(oid([2, 5, 29, 17]), octets(sequence(tagged(0x82, Buffer.from(host)))))];
    const point = (uri: string) => sequence(tagged(0xa0, tagged(0xa0, tagged(0x86, Buffer.from(uri)))));
    const points = crl === undefined ? [] : [sequence(oid([2, 5, 29, 31]), octets(sequence(point(crl))))];
    const body = sequence(
        tagged(0xa0, tagged(0x02, Buffer.from([2]))),
        tagged(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
        algorithm,
        nameOf(issuer),
        sequence(time('200101000000Z'), time(expired ? '210101000000Z' : '491231235959Z')),
        nameOf(subject),
        spki,
        tagged(0xa3, sequence(constraints, ...names, ...points)),
    );
    const signature = sign('sha256', body, createPrivateKey(signer));
    const whole = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const TRUE = tagged(0x01, Buffer.from([0xff]));

function nameOf(text: string): Buffer {
    return sequence(tagged(0x31, sequence(oid([2, 5, 4, 3]), tagged(0x0c, Buffer.from(text)))));
}

function time(text: string): Buffer {
    return tagged(0x17, Buffer.from(text));
}

function octets(content: Buffer): Buffer {
    return tagged(0x04, content);
}

function sequence(...parts: Buffer[]): Buffer {
    return tagged(0x30, Buffer.concat(parts));
}

function tagged(tag: number, content: Buffer): Buffer {
    const size = content.length;
    const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
    return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function oid([first = 0, second = 0, ...rest]: number[]): Buffer {
    const bytes = [first * 40 + second];
    for (const part of rest) {
        const groups = [part & 0x7f];
        for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
        bytes.push(...groups);
    }
    return tagged(0x06, Buffer.from(bytes));
}
