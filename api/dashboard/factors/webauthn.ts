import { isIP } from 'node:net';
import type {
    AuthenticationResponseJSON,
    PublicKeyCredentialCreationOptionsJSON,
    PublicKeyCredentialRequestOptionsJSON,
    RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { App } from '../../../shared/app.ts';
import { tryParseExact } from '../../../shared/domain/json/exact-numbers.ts';
import * as passkeys from '../../../shared/store/accounts/passkeys.ts';

/** The user who proved their identity, and the user's sign-in revision at that time. */
interface Proven {
    userId: string;
    revision: number;
}

/** Browsers use passkeys only with https or on localhost, and never for an IP address. */
export function takesPasskeys(app: App): boolean {
    const { protocol, hostname } = new URL(app.publicUrl());
    return (protocol === 'https:' || hostname === 'localhost') && isIP(hostname.replaceAll(/[[\]]/g, '')) === 0;
}

/** Options for `navigator.credentials.create`. */
export async function creationOptions(app: App, user: { userId: string; email: string }): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await library();
    return generateRegistrationOptions({
        rpName: 'Routebook',
        rpID: hostOf(app),
        userID: new Uint8Array(Buffer.from(user.userId)),
        userName: user.email,
        challenge: new Uint8Array(Buffer.from(await passkeys.makeChallenge(app.db, user.userId), 'base64url')),
        attestationType: 'none',
        excludeCredentials: await credentialsOf(app, user.userId),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
}

/** Options for `navigator.credentials.get`. They allow the passkeys of `owner`, or of any user. @param signedIn the user of the session */
export async function requestOptions(
    app: App,
    { owner, signedIn }: { owner?: string; signedIn?: string },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
    // This does not load the library, since anybody may open the page.
    const allowed = owner === undefined ? [] : await passkeys.listPasskeys(app.db, owner);
    return {
        challenge: await passkeys.makeChallenge(app.db, signedIn),
        rpId: hostOf(app),
        allowCredentials: allowed.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' })),
        timeout: 60_000,
        userVerification: 'required',
    };
}

/** Reads the new passkey from a browser's answer. Undefined if the answer is invalid. */
export async function readNewPasskey(app: App, userId: string, answer: string) {
    const { verifyRegistrationResponse } = await library();
    const response = parse<RegistrationResponseJSON>(answer);
    if (response === undefined || !(await hasNoCertificate(response))) return undefined;
    const verified = await verifyRegistrationResponse({
        response,
        expectedChallenge: (challenge) => passkeys.takeChallenge(app.db, challenge, userId),
        expectedOrigin: new URL(app.publicUrl()).origin,
        expectedRPID: hostOf(app),
        requireUserVerification: true,
    }).catch(() => undefined);
    if (verified?.verified !== true) return undefined;
    const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
}

/**
 * Checks that the answer has no certificate of the authenticator's manufacturer. Browsers remove it, since our options do not ask for it, so
 * only another program sends one. The library would request revocation lists from URLs in these certificates.
 */
async function hasNoCertificate({ response }: RegistrationResponseJSON): Promise<boolean> {
    const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
    try {
        const object = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
        const [fmt, statement] = [object.get('fmt'), object.get('attStmt')];
        return (fmt === 'none' && statement.size === 0) || (fmt === 'packed' && statement.get('x5c') === undefined);
    } catch {
        return false;
    }
}

/**
 * Finds the user of a passkey from a browser's answer, with the sign-in revision. Undefined if the answer is invalid.
 * @param signedIn the user of the session, if any
 */
export async function userOfPasskey(app: App, answer: string, signedIn?: string): Promise<Proven | undefined> {
    const response = parse<AuthenticationResponseJSON>(answer);
    const passkey = response && (await passkeys.findPasskey(app.db, response.id));
    if (response === undefined || passkey === undefined) return undefined;
    const { verifyAuthenticationResponse } = await library();
    const verified = await verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => passkeys.takeChallenge(app.db, challenge, signedIn),
        expectedOrigin: new URL(app.publicUrl()).origin,
        expectedRPID: hostOf(app),
        requireUserVerification: true,
        credential: { id: passkey.credentialId, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
    }).catch(() => undefined);
    if (verified?.verified !== true) return undefined;
    const isUsed = await passkeys.markUsed(app.db, passkey.passkeyId, verified.authenticationInfo.newCounter);
    return isUsed ? { userId: passkey.userId, revision: passkey.revision } : undefined;
}

/** Loaded on first use, since it takes 25 MB and 0.2 s and most processes see no passkeys. */
function library() {
    return import('@simplewebauthn/server');
}

function hostOf(app: App): string {
    return new URL(app.publicUrl()).hostname;
}

async function credentialsOf(app: App, userId: string) {
    return (await passkeys.listPasskeys(app.db, userId)).map(({ credentialId, transports }) => ({ id: credentialId, transports }));
}

/** Parses a browser's answer. The library checks everything except the id. */
function parse<T extends { id: string }>(answer: string): T | undefined {
    const value: unknown = tryParseExact(answer);
    return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? (value as T) : undefined;
}
