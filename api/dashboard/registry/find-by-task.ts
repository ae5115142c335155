import type { FoundEndpoint } from '../../../shared/contracts/endpoints.ts';
import type { Visit } from '../page.ts';

/** Endpoints shown above the sites. */
const MOST = 6;
/** A task has at least so many characters (GET /v1/endpoints). */
const LEAST = 3;

interface FoundByTask {
    endpoints: FoundEndpoint[];
    /** Why there are none: the visitor asked too often, for example. */
    refused?: string;
}

/** Endpoints for a typed task, as GET /v1/endpoints finds them: same order, threshold and limit per address. */
export async function findByTask(
    { ask }: Visit,
    { q, category, verified }: { q: string; category: string | undefined; verified: boolean },
): Promise<FoundByTask> {
    if ([...q].length < LEAST) return { endpoints: [] };
    const query = new URLSearchParams({ task: q, limit: String(MOST) });
    if (category !== undefined) query.set('category', category);
    if (verified) query.set('verified', 'true');
    const answer = await ask({ method: 'GET', path: `/v1/endpoints?${query}`, as: undefined });
    if (!answer.ok) return { endpoints: [], refused: answer.refused.message };
    return { endpoints: answer.isCut ? [] : (answer.body['data'] as FoundEndpoint[]) };
}
