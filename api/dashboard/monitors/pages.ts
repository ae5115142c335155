import { USERS, workspacePage } from '../page.ts';
import { addByForm, showNew } from './add.ts';
import { actOnMonitor, listMonitors, showMonitor } from './monitors.ts';

const ONE = '/dashboard/monitors/{monitor_id}';
const SHOWN = { method: 'GET', audience: USERS } as const;
const FORM = { method: 'POST', audience: USERS } as const;

export const monitorPages = [
    workspacePage({ ...SHOWN, path: '/dashboard/monitors', respond: listMonitors }),
    workspacePage({ ...SHOWN, path: '/dashboard/monitors/new', respond: (visit) => showNew(visit) }),
    workspacePage({ ...FORM, path: '/dashboard/monitors/new', respond: addByForm }),
    workspacePage({ ...SHOWN, path: ONE, respond: (visit) => showMonitor(visit) }),
    workspacePage({ ...FORM, path: `${ONE}/run`, respond: (visit) => actOnMonitor(visit, 'run') }),
    workspacePage({ ...FORM, path: `${ONE}/pause`, respond: (visit) => actOnMonitor(visit, 'pause') }),
    workspacePage({ ...FORM, path: `${ONE}/resume`, respond: (visit) => actOnMonitor(visit, 'resume') }),
    workspacePage({ ...FORM, path: `${ONE}/delete`, respond: (visit) => actOnMonitor(visit, 'delete') }),
];
