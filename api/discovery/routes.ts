import { getCategories, getErrors, getOpenApi } from '../../shared/contracts/discovery.ts';
import { getTrending } from '../../shared/contracts/trending.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import type { AnswerWithETag } from '../answers/etag.ts';
import { openApiBytes } from '../answers/openapi-bytes.ts';
import type { OpenCall } from '../call.ts';
import { serve, serveWithETag } from '../serve.ts';
import { showTrending } from './show-trending.ts';

export const discoveryRoutes = [
    serve(getCategories, async () => ({
        answer: CATEGORIES.map(({ slug, name, children }) => ({
            slug,
            name,
            children: children.map((child) => ({ slug: child.slug, name: child.name, path: child.path })),
        })),
    })),

    serve(getTrending, async (call) => ({ answer: await showTrending(call) })),

    serve(getErrors, async () => ({
        answer: [...REFUSALS].map(([code, { status, fault, retryable, meaning }]) => ({ code, status, fault, retryable, meaning })),
    })),

    serveWithETag(getOpenApi, showOpenApi),
];

/** GET /v1/openapi.json */
async function showOpenApi({ app }: Pick<OpenCall<object, object, undefined>, 'app'>): Promise<AnswerWithETag> {
    const { tag, ...bytes } = await openApiBytes(app.publicUrl());
    return { tag, read: () => Promise.resolve(bytes) };
}
