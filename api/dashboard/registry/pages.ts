import type { FoundEndpoint } from '../../../shared/contracts/endpoints.ts';
import { LIST_SORTS, type ListSort, TRENDING_WINDOWS, type TrendingWindow } from '../../../shared/domain/package/registry-choices.ts';
import { CATEGORIES, isCategory } from '../../../shared/domain/package/taxonomy.ts';
import { readSearch } from '../../../shared/domain/search/search-text.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { Json } from '../../../shared/domain/types.ts';
import type { FoundPage } from '../../../shared/platform/row-page.ts';
import { cardsOf } from '../../../shared/store/registry/cards.ts';
import { mostRequested } from '../../../shared/store/registry/schema-requests.ts';
import { type ListQuery, PlaceGone } from '../../../shared/store/registry/search.ts';
import { trendingSites } from '../../../shared/store/registry/trending.ts';
import { siteTraffic } from '../../../shared/store/usage/traffic.ts';
import { keptPage, openPage, type Shown, USERS, type Visit, workspacePage } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { showSite } from './site.ts';
import { showTry, tryIt } from './try-it.ts';
import { showVersions } from './versions.ts';

export const registryPages = [
    keptPage('/registry', browse, 0),
    keptPage('/trending', showTrending, 0),
    openPage({ method: 'GET', path: '/registry/{site}', respond: showSite }),
    openPage({ method: 'GET', path: '/registry/{site}/versions', respond: showVersions }),
    workspacePage({ method: 'GET', path: '/registry/{site}/try/{endpoint}', audience: USERS, respond: showTry }),
    workspacePage({ method: 'POST', path: '/registry/{site}/try/{endpoint}', audience: USERS, queuesElsewhere: true, respond: tryIt }),
];

/** Sites per page. Nine cards fill three screens of a phone. */
const PER_PAGE = 9;
const TRENDING = 5;
const WANTED = 5;

const SORT_LABELS: Readonly<Record<ListSort | 'relevance', string>> = {
    relevance: 'Best match',
    trending: 'Used most',
    recently_verified: 'Verified lately',
    recent: 'Published lately',
    name: 'Name',
};

/** GET /registry: all of `q`, `category`, `verified`, `sort` and `from` are optional. Invalid values are ignored. */
async function browse(visit: Pick<Visit, 'app' | 'query' | 'ask'>): Promise<Shown> {
    const { app } = visit;
    const asked = readAsked(visit);
    const { q, category, sort, verified } = asked;
    const query: ListQuery = { search: readSearch(q), category, isVerifiedOnly: verified, sort };
    const isFirst = visit.query('from') === undefined;
    const isUnfiltered = q === '' && category === undefined && sort === undefined && !verified && isFirst;
    const [page, byTask, trending, wanted] = await Promise.all([
        readList(visit, query),
        isFirst ? findByTask(visit, asked) : { endpoints: [] },
        isUnfiltered ? app.read((db) => trendingSites(db, '7d', TRENDING)) : [],
        isUnfiltered ? app.read((db) => mostRequested(db, WANTED)) : [],
    ]);
    const [cards, traffic] = await Promise.all([cardsOf(app.browse, page.rows), siteTraffic(app.browse, page.rows)]);
    const fetches = new Map(page.rows.map((site, place) => [site, traffic[place]?.fetches7d ?? 0]));
    const title = q !== '' ? `${q} in the registry` : category === undefined ? 'Registry' : `${categoryName(category)} in the registry`;
    return {
        view: 'registry/list',
        title,
        description: 'Sites with their endpoints, parameters, responses, prices and success rates.',
        model: {
            ...asked,
            // Later pages have no permanent URL, so this is the first page.
            canonical: pathOf(asked),
            sites: cards.map((card) => ({ ...card, fetches: fetches.get(card.site) ?? 0 })),
            total: page.total,
            trending,
            wanted,
            isUnfiltered,
            next: page.next === undefined ? undefined : pathOf({ ...asked, from: await app.cursors.seal(cursorQuery(query), page.next) }),
            isFirst,
            byTask,
            request: addressOf('/requests/new', normaliseSite(q).ok ? { domain: q } : { task: q }),
            first: pathOf(asked),
            categories: CATEGORIES,
            sorts: (['', ...LIST_SORTS] as const)
                .filter((name) => name !== 'trending' || q !== '')
                .map((name) => ({ value: name, label: SORT_LABELS[name === '' ? (q === '' ? 'trending' : 'relevance') : name] })),
        },
    };
}

interface Asked {
    q: string;
    category: string | undefined;
    verified: boolean;
    sort: ListSort | undefined;
}

function readAsked({ query }: Pick<Visit, 'query'>): Asked {
    const category = query('category');
    return {
        q: (query('q') ?? '').trim().slice(0, 100).toWellFormed(),
        category: category !== undefined && isCategory(category) ? category : undefined,
        verified: query('verified') === 'true',
        sort: LIST_SORTS.find((name) => name === query('sort')),
    };
}

/** Reads a page of the list. If the cursor has expired or belongs to another list, reads the first page. */
async function readList({ app, query }: Pick<Visit, 'app' | 'query'>, asked: ListQuery): Promise<FoundPage<string, Json>> {
    const cursor = query('from');
    const from = cursor === undefined ? undefined : await app.cursors.open(cursorQuery(asked), cursor);
    return app.lists.page(asked, { limit: PER_PAGE, after: from }).catch((error: unknown) => {
        if (error instanceof PlaceGone) return app.lists.page(asked, { limit: PER_PAGE });
        throw error;
    });
}

function cursorQuery({ search, category, isVerifiedOnly, sort }: ListQuery): Json {
    const words = search === undefined ? null : [search.joined, ...search.terms.map(({ text }) => text)];
    return ['registry', words, category ?? null, isVerifiedOnly, sort ?? null];
}

function pathOf({ q, category, verified, sort, from }: Asked & { from?: string }): string {
    return addressOf('/registry', { q, category, verified: verified ? 'true' : undefined, sort, from });
}

function categoryName(category: string): string {
    const [slug = '', leaf] = category.split('/');
    const parent = CATEGORIES.find((one) => one.slug === slug);
    const child = parent?.children.find((one) => one.slug === leaf);
    return [parent?.name, child?.name].filter((name) => name !== undefined).join(': ');
}

/** How many endpoints are shown above the sites. */
const ENDPOINTS = 6;
/** The fewest characters of a task (GET /v1/endpoints). */
const MIN_TASK = 3;

interface FoundByTask {
    endpoints: FoundEndpoint[];
    /** The reason if the search was refused, for example that the visitor searched too often. */
    refused?: string;
}

/** Finds endpoints for a task through GET /v1/endpoints, with the same order, threshold and rate limit per address. */
async function findByTask(
    { ask }: Pick<Visit, 'ask'>,
    { q, category, verified }: { q: string; category: string | undefined; verified: boolean },
): Promise<FoundByTask> {
    if ([...q].length < MIN_TASK) return { endpoints: [] };
    const query = { task: q, limit: String(ENDPOINTS), category, verified: verified ? 'true' : undefined };
    const answer = await ask({ method: 'GET', path: addressOf('/v1/endpoints', query) });
    if (!answer.ok) return { endpoints: [], refused: answer.refused.message };
    return { endpoints: answer.isCut ? [] : (answer.body['data'] as FoundEndpoint[]) };
}

const SITES = 15;
const REQUESTED = 10;

const LABELS: Readonly<Record<TrendingWindow, string>> = { '24h': 'Last day', '7d': 'Last 7 days', '30d': 'Last 30 days' };

/** GET /trending: the most used sites and the most requested domains. An invalid `window` counts as 7 days. */
async function showTrending({ app, query }: Pick<Visit, 'app' | 'query'>): Promise<Shown> {
    const window = TRENDING_WINDOWS.find((one) => one === query('window')) ?? '7d';
    const [sites, wanted] = await Promise.all([trendingSites(app.browse, window, SITES), mostRequested(app.browse, REQUESTED)]);
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
