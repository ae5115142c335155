import { isUtf8 } from 'node:buffer';
import type { CatalogAnswer, CatalogEndpoint } from '../../shared/contracts/catalog.ts';
import { newId } from '../../shared/domain/ids.ts';
import { checkIntent } from '../../shared/domain/intent.ts';
import * as pricing from '../../shared/domain/pricing.ts';
import { type Experience, memorableWords, rankEndpoints, soughtWords } from '../../shared/domain/ranking.ts';
import { textProblem } from '../../shared/domain/text-rule.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';
import type * as usage from '../../shared/store/usage.ts';
import { limitIdentity } from '../plugins/client-address.ts';
import { countCall } from '../plugins/count-call.ts';
import { presentHealth } from '../present-health.ts';
import type { Call } from '../serve.ts';
import { readSite, siteBlocked, siteNotFound } from '../site.ts';

/** GET /v1/catalog/{domain}: domain, then intent, then the count; an unknown site counts too. */
export async function lookUpCatalog(call: Call<{ domain: string }, { intent?: string }, unknown>): Promise<CatalogAnswer> {
    const { app, params, query } = call;
    const began = performance.now();
    const written = query.intent ?? readIntentHeader(call.header('x-service-intent'));
    const { site, registrable } = readSite(params.domain, '/domain');
    const intent = checkIntent(written);
    if (!intent.ok) throw new Refusal(intent.code);
    const words = soughtWords(intent.words);
    const { isBlocked, siteCredits, latest, health, ...experience } = await app.lookUps.find({ site, registrable, words });
    if (isBlocked) throw siteBlocked();
    await countCall(call);
    if (latest === undefined) throw siteNotFound();
    const { ref: version } = latest;
    const { inOrder, hosts } = await latest.load();
    const sessionId = newId('ses');
    app.sessions.record({ id: sessionId, site, accountId: call.caller?.accountId, words: memorableWords(words) });
    usageOf(call, { site, registrable, sessionId, version: version.version, durationMs: performance.now() - began });
    return {
        success: true,
        domain: site,
        session_id: sessionId,
        endpoints: rankEndpoints(inOrder, words, { ...experience, successRates: ratesOf(health) }).map((endpoint) =>
            presentEndpoint(endpoint, siteCredits, health.get(endpoint.name)),
        ),
        schema: {
            version: version.version,
            version_hash: version.versionHash,
            verified: version.verifiedAt !== null,
            verified_at: version.verifiedAt?.toISOString() ?? null,
            claim: latest.claim,
            hosts: [...hosts],
        },
    };
}

function ratesOf(health: usage.EndpointHealth): Experience['successRates'] {
    const rates = new Map<string, number>();
    for (const [name, { successRate }] of health) if (successRate !== null) rates.set(name, successRate);
    return rates;
}

/** Header bytes come to us as Latin-1; a caller who writes more than ASCII there means UTF-8. */
function readIntentHeader(header: string | undefined): string | undefined {
    const bytes = Buffer.from(header ?? '', 'latin1');
    const intent = isUtf8(bytes) ? bytes.toString() : header;
    const fault = textProblem(intent ?? '', { multiline: true });
    if (fault === undefined) return intent;
    const details: Detail[] = [{ path: '/intent', code: 'INVALID_VALUE', message: `The header X-Service-Intent ${fault}.` }];
    throw new Refusal('VALIDATION_ERROR', undefined, { details });
}

function presentEndpoint(endpoint: Endpoint, siteCredits: number, traffic: usage.TrafficHealth | undefined): CatalogEndpoint {
    return {
        name: endpoint.name,
        method: endpoint.method,
        url: endpoint.url,
        headers: { ...endpoint.headers },
        kind: endpoint.kind,
        description: endpoint.description,
        params: endpoint.params.map(({ name, source, required, description, schema, default: fallback }) => ({
            name,
            source,
            required,
            description,
            ...(schema === undefined ? {} : { schema }),
            ...(fallback === undefined ? {} : { default: fallback }),
        })),
        hosted: endpoint.hosted,
        effect: endpoint.effect,
        credits: siteCredits,
        credits_max: siteCredits * pricing.greatestUnits(endpoint),
        health: presentHealth(traffic),
    };
}

function usageOf(
    { app, caller, clientAddress }: Call<unknown, unknown, unknown>,
    look: { site: string; registrable: string; sessionId: string; version: number; durationMs: number },
): void {
    app.usage.record({
        kind: 'catalog',
        operation: newId('op'),
        accountId: caller?.accountId,
        ...(caller === undefined ? { address: limitIdentity(clientAddress) } : {}),
        workspaceId: caller?.workspaceId,
        userId: caller?.userId,
        keyId: caller?.keyId,
        sessionId: look.sessionId,
        site: look.site,
        registrable: look.registrable,
        version: look.version,
        outcome: 'success',
        credits: 0,
        durationMs: look.durationMs,
    });
}
