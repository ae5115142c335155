import type { Done, Session } from '../session.ts';

/** `routebook logout`: removes the stored key of a server. The key still works until it is revoked. */
export async function logOut({ server, keys, settings, note }: Session): Promise<Done> {
    const wasStored = keys.remove(server);
    if (settings.apiKey !== undefined) note('! ROUTEBOOK_API_KEY is set and is still used');
    return {
        result: { server, removed: wasStored },
        lines: [wasStored ? `The key for ${server} was removed from this machine.` : `No key is stored for ${server}.`],
    };
}
