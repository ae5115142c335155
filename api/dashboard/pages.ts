import { accountPages } from './account/pages.ts';
import { appPages } from './apps/pages.ts';
import { auditPages } from './audit/pages.ts';
import { billingPages } from './billing/pages.ts';
import { connectionPages } from './connections/pages.ts';
import { docsPages } from './docs/pages.ts';
import { domainPages } from './domains/pages.ts';
import { factorPages } from './factors/pages.ts';
import { invitePages } from './invite/pages.ts';
import { jobPages } from './jobs/pages.ts';
import { keyPages } from './keys/pages.ts';
import { monitorPages } from './monitors/pages.ts';
import { operationsPages } from './operations/pages.ts';
import { overviewPages } from './overview/pages.ts';
import type { Page } from './page.ts';
import { registryPages } from './registry/pages.ts';
import { requestPages } from './requests/pages.ts';
import { schemaPages } from './schemas/pages.ts';
import { startPages } from './start/pages.ts';
import { usagePages } from './usage/pages.ts';
import { webhookPages } from './webhooks/pages.ts';
import { workspacePages } from './workspace/pages.ts';

/** All pages and all forms. Routes, tests of tenant isolation and screenshots are generated from this table. */
export const PAGES: readonly Page[] = [
    ...startPages,
    ...docsPages,
    ...registryPages,
    ...requestPages,
    ...accountPages,
    ...factorPages,
    ...invitePages,
    ...overviewPages,
    ...keyPages,
    ...appPages,
    ...connectionPages,
    ...jobPages,
    ...monitorPages,
    ...usagePages,
    ...schemaPages,
    ...domainPages,
    ...webhookPages,
    ...workspacePages,
    ...auditPages,
    ...operationsPages,
    ...billingPages,
];
