import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { App } from '../../../shared/app.ts';
import { PLANS } from '../../../shared/domain/accounts/plans.ts';
import { checkHealth } from '../../../shared/health/check-health.ts';
import { STATUS_CODES } from '../../../shared/platform/node-http.ts';
import { REFUSALS } from '../../../shared/refusals.ts';
import { BONUSES } from '../../../shared/store/credits/bonuses.ts';
import { cardsOf } from '../../../shared/store/registry/cards.ts';
import { trendingSites } from '../../../shared/store/registry/trending.ts';
import { keptPage, openPage, type Shown, type Visit } from '../page.ts';

/** How many sites the home page names. */
const NAMED = 6;

/** Public pages: home, status, terms, privacy, error codes, information for site owners, and security. */
export const startPages = [
    keptPage('/', showHome, 10),
    openPage({ method: 'GET', path: '/status', respond: showStatus }),
    openPage({ method: 'GET', path: '/terms', respond: ({ app }) => showLegal(app, 'terms') }),
    openPage({ method: 'GET', path: '/privacy', respond: ({ app }) => showLegal(app, 'privacy') }),
    keptPage('/docs/errors', showErrors),
    keptPage('/abuse', showAbuse),
    keptPage('/security', showSecurity),
];

async function showHome({ app }: Pick<Visit, 'app'>): Promise<Shown> {
    return {
        view: 'start/home',
        title: 'Routebook: the routes behind websites, documented',
        description: 'A registry of the endpoints behind websites, and workers that call them for you. Start free; pay only for successes.',
        model: {
            plans: PLANS,
            bonuses: BONUSES,
            ...((await liveSites.fetch(app).catch(() => undefined)) ?? { live: [], sites: 0, hasExample: false }),
        },
    };
}

async function showStatus({ app }: Visit): Promise<Shown> {
    return {
        view: 'start/status',
        title: 'Status',
        description: 'Whether this service works now, part by part.',
        model: await checkHealth(app),
    };
}

const LEGAL = {
    terms: 'What you may do with this service, and what it promises.',
    privacy: 'What this service keeps of you, why, and for how long.',
} as const;

/** Shows the operator's text, or else the one of the release. */
async function showLegal({ config }: App, name: keyof typeof LEGAL): Promise<Shown> {
    const { renderMarkdown } = await import('../docs/markdown.ts');
    const shipped = () => readFileSync(new URL(`../../../shared/data/${name}.md`, import.meta.url), 'utf8');
    const { title, html } = renderMarkdown(config.legal[name] ?? shipped());
    return { view: 'start/legal', title, description: LEGAL[name], model: { article: html } };
}

async function showErrors(): Promise<Shown> {
    return {
        view: 'start/errors',
        title: 'Error codes',
        description: 'Every error code of the API, who can fix it, and whether a retry can help.',
        model: { groups: codesByStatus() },
    };
}

function codesByStatus() {
    const codes = [...REFUSALS].map(([code, entry]) => ({ code, ...entry }));
    return [...Map.groupBy(codes, ({ status }) => status)]
        .toSorted(([a], [b]) => a - b)
        .map(([status, codes]) => ({ status, name: STATUS_CODES[status], codes }));
}

async function showAbuse({ app }: Pick<Visit, 'app'>): Promise<Shown> {
    return {
        view: 'start/abuse',
        title: 'Who is calling your site',
        description: 'Who we are, how we call sites, and how site owners limit or block us.',
        model: { name: app.config.operatorName, contact: app.config.operatorEmails[0] },
    };
}

async function showSecurity({ app }: Pick<Visit, 'app'>): Promise<Shown> {
    return {
        view: 'start/security',
        title: 'Report a vulnerability',
        description: 'How to report a vulnerability in this service, and what counts as one.',
        model: { contact: app.config.operatorEmails[0] },
    };
}

/** Cached for the home page, so that it costs little. The page also works without the database. */
const liveSites = new LRUCache<App, LiveSites>({ max: 10, ttl: 60_000, fetchMethod: readLiveSites });

/** Recently used or published sites, the number of all sites, and whether the site of the home page's example is one of them. */
interface LiveSites {
    live: { site: string; title: string }[];
    sites: number;
    hasExample: boolean;
}

async function readLiveSites(app: App): Promise<LiveSites> {
    const query = { search: undefined, category: undefined, isVerifiedOnly: false, sort: undefined };
    const [used, { rows: sites, total }, example] = await Promise.all([
        trendingSites(app.browse, '7d', NAMED),
        app.lists.page(query, { limit: NAMED }),
        cardsOf(app.browse, ['frankfurter.dev']),
    ]);
    const others = (await cardsOf(app.browse, sites)).filter(({ site }) => !used.some((other) => other.site === site));
    const live = [...used, ...others].slice(0, NAMED).map(({ site, title }) => ({ site, title }));
    return { live, sites: total, hasExample: example.length > 0 };
}
