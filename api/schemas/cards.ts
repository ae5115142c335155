import type { SchemasQuery } from '../../shared/contracts/lists.ts';
import type { Card, SiteParams } from '../../shared/contracts/schemas.ts';
import { readSearch } from '../../shared/domain/search/search-text.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { Json } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import type { PageOrder } from '../../shared/platform/row-page.ts';
import { type CardRow, cardsOf } from '../../shared/store/registry/cards.ts';
import type { ListQuery } from '../../shared/store/registry/search.ts';
import * as usage from '../../shared/store/usage/traffic.ts';
import { answerPage, refuseOldPlace } from '../answers/paging.ts';
import { presentHealth } from '../answers/present-health.ts';
import { readTogether } from '../answers/read-together.ts';
import type { OpenCall, Reply } from '../call.ts';

/** GET /v1/schemas: finds the sites of one page, then reads their cards. */
export async function listSchemas(call: OpenCall<object, SchemasQuery, undefined>): Promise<Reply<Card[]>> {
    const { app, query } = call;
    const read = async () => {
        const asked: ListQuery = {
            search: readSearch(query.q ?? ''),
            described: await sitesByTask(call),
            category: query.category,
            isVerifiedOnly: query.verified ?? false,
            sort: query.sort,
        };
        const list = (page: PageOrder<Json>) => app.lists.page(asked, page).catch(refuseOldPlace);
        return answerPage(call, cursorQuery(asked), list, (sites) => findCards(app.browse, sites));
    };
    return readTogether(app, `schemas ${JSON.stringify(query)}`, read);
}

/** The fewest characters of a task. Shorter queries search names only. */
const MIN_TASK = 3;

/** Sites with endpoints for the searched task, best first. None if the search fails or takes too long; then only names match. */
async function sitesByTask({ app, query }: OpenCall<object, SchemasQuery, undefined>): Promise<string[]> {
    const task = query.q?.trim() ?? '';
    if (task.length < MIN_TASK) return [];
    const filters = {
        category: query.category,
        isVerifiedOnly: query.verified ?? false,
        kind: undefined,
        effect: undefined,
        site: undefined,
        maxCredits: undefined,
        needsConnection: undefined,
    };
    const { found } = await app.finder.find(task, filters).catch(() => ({ found: [] }));
    return [...new Set(found.map(({ row }) => row.site))];
}

/** The query as cursors store it: search words and explicit sort, so that equal queries share cursors. */
function cursorQuery({ search, category, isVerifiedOnly, sort }: ListQuery): Json {
    const words = search === undefined ? null : [search.joined, ...search.terms.map(({ text }) => text)];
    return [words, category ?? null, isVerifiedOnly, sort ?? (search === undefined ? 'trending' : 'relevance')];
}

/** GET /v1/schemas/{site}: the card of the latest version. */
export async function readCard({ app, params }: OpenCall<SiteParams, unknown, unknown>): Promise<Card> {
    const { site } = readSite(params.site, '/site');
    const [card] = await readTogether(app, `card ${site}`, () => findCards(app.browse, [site]));
    if (card === undefined) throw siteNotFound(site);
    return card;
}

/** The cards of these sites, in the same order, with facts from their traffic. Sites without a usable version are left out. */
async function findCards(db: Db, sites: readonly string[]): Promise<Card[]> {
    const [cards, traffic] = await Promise.all([cardsOf(db, sites), usage.siteTraffic(db, sites)]);
    const trafficBySite = new Map(sites.map((site, place) => [site, traffic[place]]));
    return cards.map((card) => presentCard(card, trafficBySite.get(card.site)));
}

/** A card as the API presents it, without URLs and headers. */
function presentCard(card: CardRow, traffic: usage.SiteTraffic | undefined): Card {
    return {
        ...presentFields(card, 'site title description intent_category'),
        verified: card.verifiedAt !== null,
        ...presentFields(card, 'verified_at version version_hash published_at'),
        endpoints: card.endpoints.map(({ name, kind, method, description, hosted }) => ({
            name,
            kind,
            method,
            description,
            hosted,
            credits: card.siteCredits,
        })),
        ...presentFields(card, 'maintainer maintainer_id claim hosts'),
        fetches_7d: traffic?.fetches7d ?? 0,
        health: presentHealth(traffic?.health),
    };
}
