import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { offerOf } from '../../../shared/fetch/latest-offer.ts';
import { keepTyped, type Problems } from '../fields.ts';
import { noSchemaOf } from '../find-endpoint.ts';
import type { Shown, WorkspaceVisit } from '../page.ts';
import { type Way, waysOf } from './ways.ts';

/** GET /dashboard/connections/new: asks for the credentials that the site accepts, as its schema describes them. */
export async function showNew(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const { app, fields, query } = visit;
    const written = fields.get('site') ?? query('site') ?? '';
    const name = normaliseSite(written);
    const offer = name.ok ? await offerOf(app, name) : undefined;
    const absent = written !== '' && offer === undefined ? { site: await noSchemaOf(app, name.ok ? name.site : written) } : {};
    const all = { ...absent, ...problems };
    const ways: readonly Way[] = offer === undefined ? [] : waysOf(offer.auth);
    return {
        view: 'connections/new',
        title: name.ok ? `Connect ${name.site}` : 'Connect a site',
        model: {
            site: offer === undefined || !name.ok ? undefined : name.site,
            written,
            ways,
            problems: all,
            // The page has one form for each way to authenticate. It shows the problems at the form that was sent.
            sent: fields.get('auth_id') ?? ways[0]?.id,
            typed: keepTyped(fields, ['secret']),
        },
    };
}
