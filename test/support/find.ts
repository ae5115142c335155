import type { FindMeta, FoundEndpoint } from '../../shared/contracts/endpoints.ts';
import { eventually } from './eventually.ts';
import { type Answer, type Person, stranger } from './people.ts';
import { dataOf } from './routes.ts';
import type { World } from './world.ts';

/** Resolves when every latest version is in the index of endpoints. */
export async function untilIndexed({ app }: World, withinMs?: number): Promise<void> {
    const waiting = async (): Promise<{ count: number }[]> => app.db('sites_to_index').count();
    await eventually(waiting, ([row]) => row?.count === 0, withinMs);
}

type Query = Record<string, string | number | boolean>;

/** Searches endpoints, without a key unless a person is given. */
export async function ask(
    world: World,
    query: Query,
    person: Person = stranger(world),
    headers: Record<string, string> = {},
): Promise<Answer> {
    const written = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return person.call('GET', `/v1/endpoints?${written}`, { headers });
}

/** The endpoints that an answer lists. */
export const foundIn = (answer: Answer) => dataOf<FoundEndpoint[]>(answer);
/** The same endpoints as `site/endpoint`. */
export const namesIn = (answer: Answer) => foundIn(answer).map(({ site, endpoint }) => `${site}/${endpoint}`);
export const metaIn = ({ body }: Answer) =>
    body['meta'] as FindMeta & { pagination: { limit: number; next_cursor: string | null; total: number } };
