import { MANAGERS, personalPage, USERS, workspacePage } from '../page.ts';
import { confirmCallback, showCallback } from './callback.ts';
import { beginConsent, changeRedirects, connect, deleteConnection, listConnections, testConnection } from './list.ts';
import { showNew } from './new.ts';
import { agree, changeSecret, lend, showConnection } from './one.ts';

const ONE = '/dashboard/connections/{connection_id}';

export const connectionPages = [
    workspacePage({ method: 'GET', path: '/dashboard/connections', audience: USERS, respond: (visit) => listConnections(visit) }),
    workspacePage({ method: 'POST', path: '/dashboard/connections', audience: USERS, respond: connect }),
    workspacePage({ method: 'GET', path: '/dashboard/connections/new', audience: USERS, respond: (visit) => showNew(visit) }),
    workspacePage({ method: 'POST', path: '/dashboard/connections/consent', audience: USERS, respond: beginConsent }),
    workspacePage({ method: 'POST', path: '/dashboard/connections/redirects', audience: MANAGERS, respond: changeRedirects }),
    workspacePage({ method: 'GET', path: ONE, audience: USERS, respond: (visit) => showConnection(visit) }),
    workspacePage({ method: 'POST', path: ONE, audience: USERS, respond: changeSecret }),
    workspacePage({ method: 'POST', path: `${ONE}/agree`, audience: USERS, respond: agree }),
    workspacePage({ method: 'POST', path: `${ONE}/lend`, audience: USERS, respond: lend }),
    workspacePage({ method: 'POST', path: `${ONE}/test`, audience: USERS, respond: testConnection }),
    workspacePage({ method: 'POST', path: `${ONE}/delete`, audience: USERS, respond: deleteConnection }),
    personalPage({ method: 'GET', path: '/connections/callback', respond: showCallback }),
    personalPage({ method: 'POST', path: '/connections/callback', respond: confirmCallback }),
];
