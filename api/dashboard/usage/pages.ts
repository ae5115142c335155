import { MEMBERS, USERS, workspacePage } from '../page.ts';
import { downloadCalls, showCalls } from './calls.ts';
import { showUsage } from './show.ts';
import { downloadStatement, showStatement } from './statement.ts';

/** The request log and the credit statement. */
export const usagePages = [
    workspacePage({ method: 'GET', path: '/dashboard/usage', audience: USERS, respond: showUsage }),
    workspacePage({ method: 'GET', path: '/dashboard/usage/calls', audience: USERS, respond: showCalls }),
    workspacePage({ method: 'GET', path: '/dashboard/usage/calls.csv', audience: USERS, isPart: true, respond: downloadCalls }),
    workspacePage({ method: 'GET', path: '/dashboard/statement', audience: MEMBERS, respond: showStatement }),
    workspacePage({ method: 'GET', path: '/dashboard/statement.csv', audience: MEMBERS, isPart: true, respond: downloadStatement }),
];
