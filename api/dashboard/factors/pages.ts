import { personalPage, workspacePage } from '../page.ts';
import { showNewCodes } from './changed.ts';
import { addPasskeyByForm, removePasskeyByForm, showNewPasskey } from './passkeys.ts';
import { demandFactorByForm, showFactors } from './show.ts';
import { addTotp, removeTotpByForm, showTotp } from './totp.ts';

/** Options of pages that users may open before they have set up a required factor. */
const setUp = { worksWithoutFactor: true } as const;
const setUpAgain = { worksWithoutFactor: true, needsRecentSignIn: true } as const;

const BASE = '/dashboard/settings/factors';

/** Pages of second factors: authenticator app, passkeys, recovery codes, and whether a workspace requires a second factor. */
export const factorPages = [
    personalPage({ method: 'GET', path: BASE, ...setUp, respond: showFactors }),
    personalPage({ method: 'GET', path: `${BASE}/totp`, ...setUpAgain, respond: showTotp }),
    personalPage({ method: 'POST', path: `${BASE}/totp`, ...setUpAgain, respond: addTotp }),
    personalPage({ method: 'POST', path: `${BASE}/totp/remove`, ...setUpAgain, respond: removeTotpByForm }),
    personalPage({ method: 'GET', path: `${BASE}/passkey`, ...setUpAgain, respond: showNewPasskey }),
    personalPage({ method: 'POST', path: `${BASE}/passkey`, ...setUpAgain, respond: addPasskeyByForm }),
    personalPage({ method: 'POST', path: `${BASE}/passkeys/{passkey_id}/remove`, ...setUpAgain, respond: removePasskeyByForm }),
    personalPage({ method: 'POST', path: `${BASE}/codes`, ...setUpAgain, respond: showNewCodes }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/factor',
        audience: ['owner'],
        needsRecentSignIn: true,
        respond: demandFactorByForm,
    }),
];
