import { randomBytes } from 'node:crypto';
import { addPasskey, listPasskeys } from '../../../shared/store/accounts/passkeys.ts';
import type { World } from '../../support/world.ts';
import { userOf } from './settled.ts';
import { signUp, type Visitor } from './visitor.ts';

/** Gives a user a passkey without a device. Resolves with its id. */
export async function givePasskey(world: World, userId: string): Promise<string> {
    const credentialId = randomBytes(16).toString('base64url');
    await addPasskey(world.app.db, { userId, credentialId, publicKey: randomBytes(32), counter: 0, transports: [], name: 'old laptop' });
    return (await listPasskeys(world.app.db, userId)).at(-1)?.passkeyId ?? '';
}

/** A confirmed operator with the required second factor. */
export async function signUpOperator(world: World, email: string): Promise<Visitor> {
    const person = await signUp(world, email);
    const userId = await userOf(world, email);
    await world.app.db.raw('update users set verified_at = app_now() where id = ?', [userId]);
    await givePasskey(world, userId);
    return person;
}
