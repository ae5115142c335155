import { getCategories, getErrors, getOpenApi } from '../../shared/contracts/discovery.ts';
import { getTrending, type TrendingAnswer } from '../../shared/contracts/trending.ts';
import type { TrendingWindow } from '../../shared/domain/package/registry-choices.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { REFUSALS } from '../../shared/refusals.ts';
import { mostRequested } from '../../shared/store/registry/schema-requests.ts';
import { trendingSites } from '../../shared/store/registry/trending.ts';
import type { AnswerWithETag } from '../answers/etag.ts';
import { openApiBytes } from '../answers/openapi-bytes.ts';
import type { OpenCall } from '../call.ts';
import { serve, serveConstant, serveWithETag } from '../serve.ts';

export const discoveryRoutes = [
    serveConstant(getCategories, () =>
        CATEGORIES.map(({ slug, name, children }) => ({
            slug,
            name,
            children: children.map((child) => ({ slug: child.slug, name: child.name, path: child.path })),
        })),
    ),

    serve(getTrending, async (call) => ({ answer: await showTrending(call) })),

    serveConstant(getErrors, () =>
        [...REFUSALS].map(([code, { status, fault, retryable, meaning }]) => ({ code, status, fault, retryable, meaning })),
    ),

    serveWithETag(getOpenApi, showOpenApi),
];

/** GET /v1/openapi.json */
async function showOpenApi({ app }: Pick<OpenCall<object, object, undefined>, 'app'>): Promise<AnswerWithETag> {
    const { tag, ...bytes } = await openApiBytes(app.publicUrl());
    return { tag, read: () => Promise.resolve(bytes) };
}

const SITES = 50;
const REQUESTED = 20;

/** GET /v1/trending: the most used sites of the latest roll-up, and the most requested domains now. */
async function showTrending({ app, query }: OpenCall<object, { window?: TrendingWindow }, unknown>): Promise<TrendingAnswer> {
    const { window = '7d' } = query;
    const [sites, requested] = await Promise.all([
        app.read((db) => trendingSites(db, window, SITES)),
        app.read((db) => mostRequested(db, REQUESTED)),
    ]);
    return {
        window,
        sites: sites.map((site, place) => ({
            rank: place + 1,
            site: site.site,
            title: site.title,
            intent_category: site.intentCategory,
            verified: site.isVerified,
            fetches: site.fetches,
            lookups: site.lookups,
            score: site.score,
        })),
        requested: requested.map(({ domain, requests }) => ({ domain, requests })),
    };
}
