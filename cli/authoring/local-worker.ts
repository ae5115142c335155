import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { createParamValidator } from '../../shared/domain/fetch/validate-params.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { limitsFor, priceOrder } from '../../shared/domain/package/pricing.ts';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import { runFetchJob } from '../../workers/run-fetch-job.ts';
import { createReader } from '../../workers/select/reader.ts';
import { createUpstream } from '../../workers/upstream.ts';
import type { Settings } from '../settings.ts';

interface LocalCall {
    document: PackageDocument;
    endpoint: string;
    params: JsonObject;
    timeoutMs: number;
    maySend: boolean;
    signal: AbortSignal;
}

/**
 * Opens the worker's executor on this machine, with the same egress guard, plans and parsers.
 * @param server the server named in the user agent
 */
export function openLocalWorker(settings: Settings, server: string) {
    const { egressAllow: allow, egressHosts: hosts, egressProxyUrl: proxyUrl } = settings.egress();
    const upstream = createUpstream({ rules: { allow, hosts, proxyUrl } });
    const reader = createReader({ threads: 1 });
    return {
        /** Calls an endpoint of a checked package. A write is sent only with `maySend`. */
        async call({ document, endpoint: name, params, timeoutMs, maySend, signal }: LocalCall): Promise<FetchOutcome> {
            const found = document.endpoints.find((candidate) => candidate.name === name);
            const registrable = registrableDomain(document.site);
            if (found === undefined || registrable === undefined) throw new Error(`the package has no endpoint ${name}`);
            const endpoint = readEndpoint(found);
            const bound = bindParams(endpoint, params, createParamValidator());
            if (!bound.ok) return { ok: false, code: 'INVALID_PARAMS', details: bound.problems };
            const price = priceOrder({ endpoint, siteCredits: 1 });
            if (!price.ok) throw new Error(price.problem.message);
            const now = Date.now();
            return runFetchJob(
                {
                    upstream,
                    reader,
                    userAgent: () => userAgent(server),
                    loadEndpoint: async () => ({ endpoint, registrable }),
                    markSent: async () => maySend,
                },
                {
                    operation: newId('op'),
                    requestId: newId('req'),
                    site: document.site,
                    versionId: 0,
                    endpoint: name,
                    effect: endpoint.effect,
                    values: JSON.stringify(bound.values),
                    admittedAt: now,
                    deadlineAt: now + timeoutMs,
                    ...limitsFor({ endpoint }, price, price.maxUnits),
                    run: 1,
                },
                signal,
            );
        },
        async close(): Promise<void> {
            await reader.close();
            upstream.close();
        },
    };
}
