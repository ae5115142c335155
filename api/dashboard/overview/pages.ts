import { figuresFor, windowsOf } from '../../../shared/domain/accounts/plans.ts';
import { listedKeys } from '../../../shared/store/accounts/api-keys.ts';
import { BONUSES } from '../../../shared/store/credits/bonuses.ts';
import { recentCalls } from '../../../shared/store/usage/call-log.ts';
import { noticesOf } from '../billing/show.ts';
import { curlLine } from '../first-call.ts';
import { type Answer, MANAGERS, type PersonalVisit, personalPage, USERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { statusOf } from '../usage/calls.ts';

const SHOWN_CALLS = 8;

/** The first page after signing in: next steps, remaining credits, and the latest calls. */
export const overviewPages = [
    personalPage({ method: 'GET', path: '/dashboard', respond: showOverview }),
    workspacePage({ method: 'GET', path: '/dashboard/recent', audience: USERS, isPart: true, respond: showRecentCalls }),
];

async function showOverview(visit: PersonalVisit): Promise<Answer> {
    const { current: membership } = visit.me;
    if (membership === undefined) return { to: '/dashboard/workspace' };
    const here = { ...visit, workspace: membership };
    const mayUse = USERS.includes(membership.role);
    const [account, calls, steps, notices] = await Promise.all([
        readAccount(here),
        readCalls(here),
        mayUse ? firstSteps(here) : Promise.resolve([]),
        noticesOf(here),
    ]);
    return {
        view: 'overview/overview',
        title: 'Overview',
        usesHtmx: mayUse && calls.length === 0,
        model: {
            membership,
            notices,
            ...account,
            calls,
            mayUse,
            steps: steps.some(({ isDone }) => !isDone) ? markNext(steps) : [],
        },
    };
}

async function showRecentCalls(visit: WorkspaceVisit): Promise<Answer> {
    return { view: 'overview/recent', title: 'Recent calls', model: { calls: await readCalls(visit), mayUse: true } };
}

async function readAccount({ app, workspace }: WorkspaceVisit) {
    const balance = await app.credits.balance(workspace.accountId);
    const figures = figuresFor(workspace.plan, balance?.overrides);
    const peeked = await app.limits.peek(`account:${workspace.accountId}`, windowsOf(figures), workspace.accountId);
    return { balance, windows: peeked.windows, inFlight: peeked.inFlight, concurrency: figures.concurrency };
}

async function readCalls({ app, me, workspace }: WorkspaceVisit) {
    const byUser = MANAGERS.includes(workspace.role) ? undefined : me.userId;
    const { accountId, workspaceId } = workspace;
    const calls = await recentCalls(app.db, { accountId, workspaceId, byUser, limit: SHOWN_CALLS });
    return calls.map((call) => ({ ...call, status: statusOf(call) }));
}

interface Step {
    title: string;
    words: string;
    isDone: boolean;
    link?: string;
    label?: string;
    code?: string;
}

/** Texts for the step of the first call. The text depends on whether there are an example call and a key. */
const PUT_THE_KEY = 'Run this in a terminal where ROUTEBOOK_API_KEY holds your key.';
const KEY_FIRST = 'The command appears here once you have a key.';
const FIND_A_SITE = 'Choose a site in the registry. Its page shows the command.';

async function firstSteps({ app, me, workspace }: WorkspaceVisit): Promise<Step[]> {
    const keys = await listedKeys(app.db, workspace.workspaceId, { userId: me.userId, ended: 0 });
    const hasKey = keys.some(({ state }) => state === 'active');
    const call = await curlLine(app);
    const isShown = call.isFetch && hasKey && !me.hasFetched;
    return [
        ...confirmStep({ app, me }),
        {
            title: 'Create an API key',
            words: 'Your programs use it to sign in.',
            isDone: hasKey || me.hasFetched,
            link: '/dashboard/keys#new',
            label: 'New key',
        },
        {
            title: 'Make your first call',
            words: `Your first fetch earns you ${BONUSES.firstFetch} credits. ${isShown ? PUT_THE_KEY : call.isFetch ? KEY_FIRST : FIND_A_SITE}`,
            isDone: me.hasFetched,
            ...(call.isFetch ? {} : { link: '/registry', label: 'Open the registry' }),
            ...(isShown ? { code: call.line } : {}),
        },
    ];
}

/** The step to confirm the address. It is left out without a mail server, since there is no link to open. */
function confirmStep({ app, me }: Pick<PersonalVisit, 'app' | 'me'>): Step[] {
    if (app.config.mail.smtpUrl === undefined) return [];
    return [{ title: 'Confirm your email address', words: `Open the link we sent to ${me.email}.`, isDone: me.isVerified }];
}

function markNext(steps: readonly Step[]): (Step & { isNext: boolean })[] {
    const next = steps.findIndex(({ isDone }) => !isDone);
    return steps.map((step, index) => ({ ...step, isNext: index === next }));
}
