import { PLANS } from '../../../shared/domain/plans.ts';
import { REFUSALS } from '../../../shared/refusals.ts';
import { BONUSES } from '../../../shared/store/credits.ts';
import { openPage } from '../page.ts';

/** What anybody may read: what this is, what errors mean, who calls, and what it costs. */
export const startPages = [
    openPage({
        method: 'GET',
        path: '/',
        respond: async () => ({
            view: 'start/home',
            title: 'Routebook: the routes behind websites, written down',
            description:
                'A registry of the endpoints behind websites, and workers that call them for you. Free to begin with; only successes cost.',
            model: { plans: PLANS, bonuses: BONUSES },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/docs/errors',
        respond: async () => ({
            view: 'start/errors',
            title: 'Error codes',
            description: 'Every error code of the API, whose fault it is, and whether the same call may succeed later.',
            model: { refusals: [...REFUSALS].map(([code, entry]) => ({ code, ...entry })) },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/abuse',
        respond: async ({ app }) => ({
            view: 'start/abuse',
            title: 'Who is calling your site',
            description: 'Who we are, how we call sites, and how the owner of a site slows us down or keeps us out.',
            model: { contact: app.config.operatorEmails[0] },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/security',
        respond: async ({ app }) => ({
            view: 'start/security',
            title: 'Report a vulnerability',
            description: 'Whom to write to about a vulnerability in this service, and what counts as one.',
            model: { contact: app.config.operatorEmails[0] },
        }),
    }),
];
