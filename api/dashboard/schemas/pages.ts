import { PACKAGE_BYTES } from '../../../shared/contracts/contract.ts';
import { MANAGERS, openPage, USERS, workspacePage } from '../page.ts';
import { addMaintainer, removeMaintainer } from './maintainers.ts';
import { publishForm, sendPackage } from './publish.ts';
import { listOwn, showOwn } from './show.ts';
import { showStop, stopByLink, stopOwnRemoval } from './stop-removal.ts';
import { restoreVersion, yankVersion } from './yank.ts';

/** The form's encoding may need three bytes for each byte of a package. */
const FORM_BYTES = 3 * PACKAGE_BYTES;

/**
 * Pages of a workspace's own schemas. Every member who may make calls may publish. Only owners and admins may yank versions and change
 * maintainers.
 */
export const schemaPages = [
    workspacePage({ method: 'GET', path: '/dashboard/schemas', audience: USERS, respond: listOwn }),
    workspacePage({ method: 'GET', path: '/dashboard/schemas/new', audience: USERS, respond: publishForm }),
    workspacePage({ method: 'POST', path: '/dashboard/schemas/new', audience: USERS, formBytes: FORM_BYTES, respond: sendPackage }),
    workspacePage({ method: 'GET', path: '/dashboard/schemas/{site}', audience: USERS, respond: (visit) => showOwn(visit) }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/schemas/{site}/versions/{version}/yank',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: yankVersion,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/schemas/{site}/versions/{version}/restore',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: restoreVersion,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/schemas/{site}/maintainers',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: addMaintainer,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/schemas/{site}/maintainers/remove',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: removeMaintainer,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/schemas/{site}/maintainers/stop',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: stopOwnRemoval,
    }),
    openPage({ method: 'GET', path: '/maintainers/stop', worksWithoutFactor: true, respond: showStop }),
    openPage({ method: 'POST', path: '/maintainers/stop', worksWithoutFactor: true, respond: stopByLink }),
];
