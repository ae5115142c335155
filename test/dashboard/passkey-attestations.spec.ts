import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Attestation, attest, challengeFor, PASSKEY_PAGE } from './support/software-authenticator.ts';
import { type PageAnswer, signUp, wordsOf } from './support/visitor.ts';

describe('a passkey from a software authenticator', () => {
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

    /** The flags UP and AT, without UV. */
    const UNVERIFIED = 0x41;

    async function make(fmt: string, statement: Map<string, unknown>, told: Partial<Attestation> = {}): Promise<PageAnswer> {
        const person = await signUp(world);
        const challenge = await challengeFor(person);
        const credential = attest({ challenge, origin: world.app.publicUrl(), fmt, statement, ...told });
        return person.send(PASSKEY_PAGE, { name: 'a program', credential });
    }

    it('is accepted without an attestation', async () => {
        expect(wordsOf((await make('none', new Map())).html)).to.include('Your recovery codes');
    });

    it('never makes the service connect to a URL in its certificate', async () => {
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

    it('is refused without user verification, from another origin, and for another person’s challenge', async () => {
        const nothing = new Map<string, unknown>();
        expect((await make('none', nothing, { flags: UNVERIFIED })).status).to.equal(422);
        expect((await make('none', nothing, { origin: 'https://evil.example' })).status).to.equal(422);
        expect((await make('none', nothing, { challenge: randomBytes(32).toString('base64url') })).status).to.equal(422);
        const theirs = await challengeFor(await signUp(world));
        expect((await make('none', nothing, { challenge: theirs })).status).to.equal(422);
    });
});
