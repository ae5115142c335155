import { demandFactor, factorsOf, hasFactor } from '../../../shared/store/accounts/factors.ts';
import { readFields, tick } from '../fields.ts';
import { personalPage, workspacePage } from '../page.ts';
import { recordVisit } from '../record-act.ts';
import { showWorkspace } from '../workspace/show.ts';
import { showNewCodes } from './changed.ts';
import { addPasskeyByForm, removePasskeyByForm, showNewPasskey } from './passkeys.ts';
import { showFactors } from './show.ts';
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
    personalPage({
        method: 'POST',
        path: `${BASE}/codes`,
        ...setUpAgain,
        respond: async (visit) => {
            const isOn = hasFactor(await factorsOf(visit.app.db, visit.me.userId));
            return isOn ? showNewCodes(visit) : { to: BASE };
        },
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/factor',
        audience: ['owner'],
        needsRecentSignIn: true,
        respond: async (visit) => {
            const { app, me, workspace, fields } = visit;
            const read = readFields(fields, { demands_factor: tick });
            const isDemanded = read.ok && read.values.demands_factor;
            // Otherwise a user without a factor who requires one would be locked out of this page.
            if (isDemanded && !me.hasFactor) return showWorkspace(visit, { factor: { '': 'Set up a second factor of your own first.' } });
            const { workspaceId } = workspace;
            await app.db.transaction(async (trx) => {
                await demandFactor(trx, workspaceId, isDemanded);
                const details = { demanded: isDemanded };
                await recordVisit(trx, visit, { workspaceId, action: 'workspace.factor_changed', target: workspaceId, details });
            });
            return { to: '/dashboard/workspace', notice: isDemanded ? 'factor-demanded' : 'factor-not-demanded' };
        },
    }),
];
