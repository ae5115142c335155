import { accountRoutes } from './account/routes.ts';
import { catalogRoutes } from './catalog/routes.ts';
import { claimRoutes } from './claims/routes.ts';
import { connectionRoutes } from './connections/routes.ts';
import { discoveryRoutes } from './discovery/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { fetchRoutes } from './fetch/routes.ts';
import { findRoutes } from './find/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { jobRoutes } from './jobs/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { monitorRoutes } from './monitors/routes.ts';
import type { AppPlugin } from './plugins/plugin.ts';
import { requestRoutes } from './requests/routes.ts';
import { schemaRoutes } from './schemas/routes.ts';
import type { ServedRoute } from './serve.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route under /v1. A test compares this list with the contracts. */
export const ROUTES: readonly ServedRoute[] = [
    ...findRoutes,
    ...catalogRoutes,
    ...fetchRoutes,
    ...connectionRoutes,
    ...jobRoutes,
    ...monitorRoutes,
    ...schemaRoutes,
    ...claimRoutes,
    ...requestRoutes,
    ...accountRoutes,
    ...eventRoutes,
    ...webhookRoutes,
    ...keyRoutes,
    ...discoveryRoutes,
    ...healthRoutes,
];

export const v1: AppPlugin = {
    name: 'v1',
    dependencies: ['api-key', 'input'],
    register(server, { app }) {
        server.route(ROUTES.map((route) => route.toHapi(app)));
    },
};
