import { PACKAGE_BYTES } from '../../../shared/contracts/body-bytes.ts';
import { MANAGERS, openPage, USERS, workspacePage } from '../page.ts';
import { addMaintainer, removeMaintainer } from './maintainers.ts';
import { publishForm, sendPackage } from './publish.ts';
import { listOwn, showOwn } from './show.ts';
import { showStop, stopByLink, stopOwnRemoval } from './stop-removal.ts';
import { restoreVersion, yankVersion } from './yank.ts';

/** The form's encoding may need three bytes for each byte of a package. */
const FORM_BYTES = 3 * PACKAGE_BYTES;

const ONE = '/dashboard/schemas/{site}';
const CONFIRMED = { method: 'POST', audience: MANAGERS, needsRecentSignIn: true } as const;

/** Pages of a workspace's own schemas. Members who may make calls may publish. Owners and admins yank versions and change maintainers. */
export const schemaPages = [
    workspacePage({ method: 'GET', path: '/dashboard/schemas', audience: USERS, respond: listOwn }),
    workspacePage({ method: 'GET', path: '/dashboard/schemas/new', audience: USERS, respond: publishForm }),
    workspacePage({ method: 'POST', path: '/dashboard/schemas/new', audience: USERS, formBytes: FORM_BYTES, respond: sendPackage }),
    workspacePage({ method: 'GET', path: ONE, audience: USERS, respond: (visit) => showOwn(visit) }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/versions/{version}/yank`, respond: yankVersion }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/versions/{version}/restore`, respond: restoreVersion }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers`, respond: addMaintainer }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers/remove`, respond: removeMaintainer }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/maintainers/stop`, respond: stopOwnRemoval }),
    openPage({ method: 'GET', path: '/maintainers/stop', worksWithoutFactor: true, respond: showStop }),
    openPage({ method: 'POST', path: '/maintainers/stop', worksWithoutFactor: true, respond: stopByLink }),
];
