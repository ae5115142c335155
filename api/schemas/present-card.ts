import type { Card } from '../../shared/contracts/schemas.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import * as usage from '../../shared/store/usage/traffic.ts';
import { presentHealth } from '../answers/present-health.ts';

/** The cards of these sites, in the same order, with facts from their traffic. Sites without a usable version are left out. */
export async function findCards(db: Db, sites: readonly string[]): Promise<Card[]> {
    const [cards, traffic] = await Promise.all([schemas.cards(db, sites), usage.siteTraffic(db, sites)]);
    const trafficBySite = new Map(sites.map((site, place) => [site, traffic[place]]));
    return cards.map((card) => presentCard(card, trafficBySite.get(card.site)));
}

/** A card as the API presents it, without URLs and headers. */
function presentCard(card: schemas.CardRow, traffic: usage.SiteTraffic | undefined): Card {
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
        maintainer: card.maintainer,
        maintainer_id: card.maintainerId,
        claim: card.claim,
        hosts: card.hosts,
        fetches_7d: traffic?.fetches7d ?? 0,
        health: presentHealth(traffic?.health),
    };
}
