import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { Visitor } from './visitor.ts';

export const PASSKEY_PAGE = '/dashboard/settings/factors/passkey';

/** The flags UP, UV and AT. Without UV it is 0x41. */
const VERIFIED = 0x45;

export interface Attestation {
    challenge: string;
    origin: string;
    fmt?: string;
    statement?: Map<string, unknown>;
    flags?: number;
}

/** The form fields of a software authenticator for a page that requests a new passkey. */
export function attest({ challenge, origin, fmt = 'none', statement = new Map(), flags = VERIFIED }: Attestation): string {
    const client = { type: 'webauthn.create', challenge, origin };
    const authData = authenticatorData(flags);
    const object = new Map<string, unknown>([
        ['fmt', fmt],
        ['attStmt', statement],
        ['authData', new Uint8Array(authData)],
    ]);
    const id = authData.subarray(55, 87).toString('base64url');
    return JSON.stringify({
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
            clientDataJSON: Buffer.from(JSON.stringify(client)).toString('base64url'),
            attestationObject: Buffer.from(isoCBOR.encode(object as Parameters<typeof isoCBOR.encode>[0])).toString('base64url'),
        },
    });
}

/** The challenge of a page that requests a new passkey. */
export async function challengeFor(person: Visitor): Promise<string> {
    return /&quot;challenge&quot;:&quot;([\w-]+)&quot;/.exec((await person.get(PASSKEY_PAGE)).html)?.[1] ?? '';
}

/** The authenticator data of a new key, without hardware: RFC 8152 and the WebAuthn recommendation, section 6.5. */
function authenticatorData(flags: number): Buffer {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ]);
    const id = randomBytes(32);
    const rp = createHash('sha256').update('localhost').digest();
    return Buffer.concat([rp, Buffer.from([flags]), Buffer.alloc(4 + 16), Buffer.from([0, id.length]), id, isoCBOR.encode(key)]);
}
