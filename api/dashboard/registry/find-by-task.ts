import type { FoundEndpoint } from '../../../shared/contracts/endpoints.ts';
import type { Visit } from '../page.ts';

/** How many endpoints are shown above the sites. */
const MAX = 6;
/** The fewest characters of a task (GET /v1/endpoints). */
const MIN = 3;

interface FoundByTask {
    endpoints: FoundEndpoint[];
    /** The reason if the search was refused, for example that the visitor searched too often. */
    refused?: string;
}

/** Finds endpoints for a task through GET /v1/endpoints, with the same order, threshold and rate limit per address. */
export async function findByTask(
    { ask }: Visit,
    { q, category, verified }: { q: string; category: string | undefined; verified: boolean },
): Promise<FoundByTask> {
    if ([...q].length < MIN) return { endpoints: [] };
    const query = new URLSearchParams({ task: q, limit: String(MAX) });
    if (category !== undefined) query.set('category', category);
    if (verified) query.set('verified', 'true');
    const answer = await ask({ method: 'GET', path: `/v1/endpoints?${query}` });
    if (!answer.ok) return { endpoints: [], refused: answer.refused.message };
    return { endpoints: answer.isCut ? [] : (answer.body['data'] as FoundEndpoint[]) };
}
