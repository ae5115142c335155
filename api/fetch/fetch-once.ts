import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { OnceRules } from '../plugins/idempotency.ts';
import { isEffectBound, lacks } from '../plugins/key-scopes.ts';
import { readSite, siteBlocked } from '../site.ts';
import { findEndpoint } from './find-endpoint.ts';
import { judgeFound } from './judge-found.ts';

/** Hold, verdict and sweep of a fetch are done so many milliseconds after its deadline, also where its process died. */
const AFTERMATH_MS = 3000;

/** What an Idempotency-Key means for a fetch: dry runs are not kept, and a site that was blocked since is not replayed either. */
export const fetchOnce: OnceRules<FetchRequest> = {
    isKept: (body) => body.dry_run !== true,
    lastsMs: ({ app, body }) => (body.timeout_ms ?? app.config.fetchTimeoutMs) + AFTERMATH_MS,
    async mayReplay({ app, body, caller }) {
        const { isBlocked } = await app.latest.find(readSite(body.site, '/site'));
        if (isBlocked) throw siteBlocked();
        if (caller === undefined || !isEffectBound(caller)) return;
        const found = await findEndpoint(app, body, (question) => app.latest.find(question));
        // Nothing says any more what the endpoint did.
        if (!found.ok) throw lacks({ part: 'effects', needs: 'write' });
        await judgeFound(app, caller, found);
    },
};
