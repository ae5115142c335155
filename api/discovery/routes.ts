import { getCategories, getErrors, getOpenApi } from '../../shared/contracts/discovery.ts';
import { getTrending } from '../../shared/contracts/trending.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import { serve, serveWithETag } from '../serve.ts';
import { showOpenApi } from './show-openapi.ts';
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
