import { USERS, workspacePage } from '../page.ts';
import { changeCap, changeConfirmation, changeKeyScopes, nameKey, revoke } from './change-key.ts';
import { createKey, rotate } from './create-key.ts';
import { listKeys, ownKey, showKey } from './show.ts';

const ONE = '/dashboard/keys/{key_id}';
const PAGE = { method: 'GET', audience: USERS } as const;
const FORM = { method: 'POST', audience: USERS } as const;

/** Pages of API keys. Members see their own keys. Owners and admins see and revoke all keys of the workspace. */
export const keyPages = [
    workspacePage({ ...PAGE, path: '/dashboard/keys', respond: (visit) => listKeys(visit) }),
    workspacePage({ ...FORM, path: '/dashboard/keys', respond: createKey }),
    workspacePage({ ...PAGE, path: ONE, respond: async (visit) => showKey(visit, await ownKey(visit)) }),
    workspacePage({ ...FORM, path: `${ONE}/rename`, respond: nameKey }),
    workspacePage({ ...FORM, path: `${ONE}/cap`, respond: changeCap }),
    workspacePage({ ...FORM, path: `${ONE}/confirmation`, respond: changeConfirmation }),
    workspacePage({ ...FORM, path: `${ONE}/scopes`, respond: changeKeyScopes }),
    workspacePage({ ...FORM, path: `${ONE}/rotate`, respond: rotate }),
    workspacePage({ ...FORM, path: `${ONE}/revoke`, respond: revoke }),
];
