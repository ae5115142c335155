import type { Done, Session } from '../session.ts';

/** `routebook logout`: forgets the key of a server. The key itself goes on working until it is revoked. */
export async function logOut({ server, keys, settings, note }: Session): Promise<Done> {
    const wasStored = keys.remove(server);
    if (settings.apiKey !== undefined) note('! ROUTEBOOK_API_KEY is set, and is used all the same');
    return {
        result: { server, removed: wasStored },
        lines: [wasStored ? `The key for ${server} is forgotten here.` : `No key is stored for ${server}.`],
    };
}
