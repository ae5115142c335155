import { getHealth } from '../../shared/contracts/discovery.ts';
import { checkHealth } from '../../shared/health/check-health.ts';
import { Refusal } from '../../shared/refusals.ts';
import { serve } from '../serve.ts';

export const healthRoutes = [
    serve(getHealth, async ({ app }) => {
        const { canFetch, ...answer } = await checkHealth(app);
        if (canFetch) return { answer };
        throw new Refusal('SERVICE_UNAVAILABLE', 'Fetches cannot be served right now. Browsing may still work.', {
            retryAfter: 1,
            data: { ...answer, status: 'unavailable' },
        });
    }),
];
