import { LRUCache } from 'lru-cache';
import type { App } from '../../shared/app.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { embeddingModel } from '../../shared/store/registry/endpoint-vectors.ts';
import type { Meaning } from '../../shared/store/registry/find-endpoints.ts';
import { perApp } from '../admission/per-app.ts';

/** How long a search waits for the embeddings server and for the nearest endpoints of its task. After that only the words decide. */
const BUDGET_MS = 150;
/** Cached vectors; 12 MB if a vector has 1,536 numbers. */
const REMEMBERED = 1000;
const REMEMBERED_MS = 3_600_000;
const BUILT_MS = 1000;

/** Whether our model computed the stored vectors of the endpoints. Cached briefly, since they may be rebuilt with another model. */
const builtOf = perApp(
    ({ browse, embedder }) =>
        new LRUCache<'is built', boolean>({
            max: 1,
            ttl: BUILT_MS,
            fetchMethod: async () => (await embeddingModel(browse))?.model === embedder?.model,
        }),
);

const rememberedOf = perApp(() => new LRUCache<string, readonly number[]>({ max: REMEMBERED, ttl: REMEMBERED_MS }));

/** Embeds a task. Undefined without EMBEDDINGS_URL and for callers without a key: their tasks are not sent to the embeddings server. */
export function meaningOf(app: App, caller: Caller | undefined, task: string): Meaning | undefined {
    if (app.embedder === undefined || caller === undefined) return undefined;
    return { vector: vectorOf(app, task.trim()).catch(() => undefined), deadline: performance.now() + BUDGET_MS };
}

async function vectorOf(app: App, task: string): Promise<readonly number[] | undefined> {
    const { config, embedder, limits } = app;
    if (!(await builtOf(app).fetch('is built'))) return undefined;
    const known = rememberedOf(app).get(task);
    if (known !== undefined || embedder === undefined) return known;
    const windows = [{ name: 'minute' as const, limit: config.embeddings?.perMinute ?? 0, seconds: 60 }];
    const verdict = await limits.take({ identity: 'embeddings', windows });
    if (!verdict.ok) return undefined;
    const [vector] = await embedder.embed([task], BUDGET_MS);
    if (vector !== undefined) rememberedOf(app).set(task, vector);
    return vector;
}
