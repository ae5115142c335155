import { PLANS } from '../../../shared/domain/accounts/plans.ts';
import { REFUSALS } from '../../../shared/refusals.ts';
import { BONUSES } from '../../../shared/store/credits/credits.ts';
import { openPage } from '../page.ts';

/** What anybody may read: what this is, what errors mean, who calls, and what it costs. */
export const startPages = [
    openPage({
        method: 'GET',
        path: '/',
        respond: async () => ({
            view: 'start/home',
            title: 'Routebook: the routes behind websites, documented',
            description:
                'A registry of the endpoints behind websites, and workers that call them for you. Start free; pay only for successes.',
            model: { plans: PLANS, bonuses: BONUSES },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/docs/errors',
        respond: async () => ({
            view: 'start/errors',
            title: 'Error codes',
            description: 'Every error code of the API, who can fix it, and whether a retry can help.',
            model: { refusals: [...REFUSALS].map(([code, entry]) => ({ code, ...entry })) },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/abuse',
        respond: async ({ app }) => ({
            view: 'start/abuse',
            title: 'Who is calling your site',
            description: 'Who we are, how we call sites, and how site owners limit or block us.',
            model: { contact: app.config.operatorEmails[0] },
        }),
    }),
    openPage({
        method: 'GET',
        path: '/security',
        respond: async ({ app }) => ({
            view: 'start/security',
            title: 'Report a vulnerability',
            description: 'How to report a vulnerability in this service, and what counts as one.',
            model: { contact: app.config.operatorEmails[0] },
        }),
    }),
];
