import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import { openWorld, type World } from '../support/world.ts';
import { type PageAnswer, signUp, wordsOf } from './support/visitor.ts';

const PAGE = '/dashboard/settings/factors/passkey';

describe('a passkey that a program makes', function () {
    this.timeout(60_000);
    let world: World;
    let listed: Server;
    const asked: string[] = [];

    before(async () => {
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        listed = createServer((request, response) => {
            asked.push(request.url ?? '');
            response.end();
        });
        await new Promise<void>((resolve) => listed.listen(0, '127.0.0.1', resolve));
    });
    after(async () => {
        await world.close();
        listed.close();
    });

    /** What an authenticator without hardware says of a new key: RFC 8152 and the WebAuthn recommendation, section 6.5. */
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

    /** UP, UV and attested data; without UV it is 0x41. */
    const [VERIFIED, UNVERIFIED] = [0x45, 0x41];

    async function make(
        fmt: string,
        statement: Map<string, unknown>,
        { flags = VERIFIED, origin, challenge }: { flags?: number; origin?: string; challenge?: string } = {},
    ): Promise<PageAnswer> {
        const person = await signUp(world);
        const [, asked = ''] = /&quot;challenge&quot;:&quot;([\w-]+)&quot;/.exec((await person.get(PAGE)).html) ?? [];
        const client = { type: 'webauthn.create', challenge: challenge ?? asked, origin: origin ?? world.app.publicUrl() };
        const authData = authenticatorData(flags);
        const object = new Map<string, unknown>([
            ['fmt', fmt],
            ['attStmt', statement],
            ['authData', new Uint8Array(authData)],
        ]);
        const id = authData.subarray(55, 87).toString('base64url');
        const credential = {
            id,
            rawId: id,
            type: 'public-key',
            clientExtensionResults: {},
            response: {
                clientDataJSON: Buffer.from(JSON.stringify(client)).toString('base64url'),
                attestationObject: Buffer.from(isoCBOR.encode(object as Parameters<typeof isoCBOR.encode>[0])).toString('base64url'),
            },
        };
        return person.send(PAGE, { name: 'a program', credential: JSON.stringify(credential) });
    }

    it('is taken where it says nothing of its maker', async () => {
        expect(wordsOf((await make('none', new Map())).html)).to.include('Your recovery codes');
    });

    it('never has the service ask an address that its certificate names', async () => {
        const { port } = listed.address() as AddressInfo;
        const { cert } = issueCertificate(createAuthority(), 'key.example', { crl: `http://127.0.0.1:${port}/revoked` });
        const der = Buffer.from(cert.replaceAll(/-----.*-----|\s/g, ''), 'base64');
        for (const fmt of ['apple', 'packed', 'fido-u2f', 'android-key', 'tpm']) {
            const statement = new Map<string, unknown>([
                ['alg', -7],
                ['sig', new Uint8Array(64)],
                ['x5c', [new Uint8Array(der)]],
            ]);
            expect((await make(fmt, statement)).status, fmt).to.equal(422);
        }
        expect(asked).to.deep.equal([]);
    });

    it('is refused without its user verified, from another origin, and for the challenge of somebody else', async () => {
        const nothing = new Map<string, unknown>();
        expect((await make('none', nothing, { flags: UNVERIFIED })).status).to.equal(422);
        expect((await make('none', nothing, { origin: 'https://evil.example' })).status).to.equal(422);
        expect((await make('none', nothing, { challenge: randomBytes(32).toString('base64url') })).status).to.equal(422);
        const other = await signUp(world);
        const [, theirs = ''] = /&quot;challenge&quot;:&quot;([\w-]+)&quot;/.exec((await other.get(PAGE)).html) ?? [];
        expect((await make('none', nothing, { challenge: theirs })).status).to.equal(422);
    });
});
