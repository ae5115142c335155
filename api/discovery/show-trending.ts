import type { TrendingAnswer } from '../../shared/contracts/trending.ts';
import { mostRequested } from '../../shared/store/registry/schema-requests.ts';
import { trendingSites } from '../../shared/store/registry/trending.ts';
import type { OpenCall } from '../call.ts';

const SITES = 50;
const REQUESTED = 20;

/** GET /v1/trending: the most used sites of the latest roll-up, and the most requested domains now. */
export async function showTrending({ app, query }: OpenCall<object, { window?: '24h' | '7d' | '30d' }, unknown>): Promise<TrendingAnswer> {
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
