import { randomBytes } from 'node:crypto';
import { addPasskey, listPasskeys } from '../../../shared/store/accounts/passkeys.ts';
import type { World } from '../../support/world.ts';

/** Gives a user a passkey without a device. Resolves with its id. */
export async function givePasskey(world: World, userId: string): Promise<string> {
    const credentialId = randomBytes(16).toString('base64url');
    await addPasskey(world.app.db, { userId, credentialId, publicKey: randomBytes(32), counter: 0, transports: [], name: 'old laptop' });
    return (await listPasskeys(world.app.db, userId)).at(-1)?.passkeyId ?? '';
}
