import type { Card, SiteParams } from '../../shared/contracts/schemas.ts';
import * as schemas from '../../shared/store/schemas.ts';
import * as usage from '../../shared/store/usage.ts';
import { presentHealth } from '../present-health.ts';
import type { Call } from '../serve.ts';
import { readSite, siteNotFound } from '../site.ts';

/** What the card says of a site that nobody maintains: the starter registry's. */
const NOBODY = 'Routebook';

/** GET /v1/schemas/{site}: the card of the latest version; no URLs or headers. */
export async function readCard({ app, params }: Call<SiteParams, unknown, unknown>): Promise<Card> {
    const { site } = readSite(params.site, '/site');
    const [card, traffic] = await Promise.all([schemas.card(app.db, site), usage.siteTraffic(app.db, site)]);
    if (card === undefined) throw siteNotFound(app);
    return {
        site: card.site,
        title: card.title,
        description: card.description,
        intent_category: card.intentCategory,
        verified: card.verifiedAt !== null,
        verified_at: card.verifiedAt?.toISOString() ?? null,
        version: card.version,
        version_hash: card.versionHash,
        published_at: card.publishedAt.toISOString(),
        endpoints: card.endpoints.map(({ name, kind, method, description, hosted }) => ({
            name,
            kind,
            method,
            description,
            hosted,
            credits: card.siteCredits,
        })),
        maintainer: card.maintainer ?? NOBODY,
        fetches_7d: traffic.fetches7d,
        health: presentHealth(traffic.health),
    };
}
