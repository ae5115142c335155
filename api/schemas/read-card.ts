import type { Card, SiteParams } from '../../shared/contracts/schemas.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import type { Call } from '../call.ts';
import { findCards } from './present-card.ts';

/** GET /v1/schemas/{site}: the card of the latest version. */
export async function readCard({ app, params }: Call<SiteParams, unknown, unknown>): Promise<Card> {
    const { site } = readSite(params.site, '/site');
    const [card] = await findCards(app.browse, [site]);
    if (card === undefined) throw siteNotFound(site);
    return card;
}
