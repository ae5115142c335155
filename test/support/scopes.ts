import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { type Answer, type Person, withKey } from './people.ts';
import type { World } from './world.ts';

/** Creates another key of a person, with all scopes except for the given changes. */
export async function scopedKey(world: World, { workspaceId, userId }: Person, scopes: Partial<Scopes>): Promise<Person> {
    const { apiKey } = await createKey(world.app.db, {
        workspaceId,
        userId,
        name: 'scoped',
        scopes: { ...EVERY_SCOPE, ...scopes },
    });
    return withKey(world, apiKey);
}

/** `part: value` of the scope that an answer reports as missing; undefined if it reports none. */
export function lackOf({ status, body }: Answer): string | undefined {
    const { code, details = [] } = (body['error'] ?? {}) as { code?: string; details?: { code: string; message: string }[] };
    const lack = details.find((detail) => detail.code === 'SCOPE_MISSING');
    return status === 403 && code === 'FORBIDDEN' ? lack?.message : undefined;
}
