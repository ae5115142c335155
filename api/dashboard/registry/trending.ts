import { mostRequested } from '../../../shared/store/registry/schema-requests.ts';
import { TRENDING_WINDOWS, type TrendingWindow, trendingSites } from '../../../shared/store/registry/trending.ts';
import type { Shown, Visit } from '../page.ts';

const MAX = 15;
const WANTED = 10;

const LABELS: Readonly<Record<TrendingWindow, string>> = { '24h': 'Last day', '7d': 'Last 7 days', '30d': 'Last 30 days' };

/** GET /trending: the most used sites and the most requested domains. An invalid `window` counts as 7 days. */
export async function showTrending({ app, query }: Visit): Promise<Shown> {
    const window = TRENDING_WINDOWS.find((one) => one === query('window')) ?? '7d';
    const [sites, wanted] = await Promise.all([trendingSites(app.browse, window, MAX), mostRequested(app.browse, WANTED)]);
    const max = Math.max(1, ...sites.map(({ score }) => score));
    return {
        view: 'registry/trending',
        title: 'Trending sites',
        description: 'Sites that are used most, and those that are requested most.',
        model: {
            canonical: '/trending',
            windows: TRENDING_WINDOWS.map((one) => ({
                path: one === '7d' ? '/trending' : `/trending?window=${one}`,
                label: LABELS[one],
                isCurrent: one === window,
            })),
            sites: sites.map((site) => ({ ...site, share: site.score / max })),
            wanted,
        },
    };
}
