import { readEndpoint } from '../../domain/package/endpoint.ts';
import type { JsonObject, PackageDocument } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

/** A suitable first fetch for a new user: a read that costs one credit, with an example or without required params. */
export interface FirstCall {
    site: string;
    endpoint: string;
    params: JsonObject;
}

const MAX_SITES = 10;

/** Tries ten sites: the demo shop, then starter packages, verified sites and the newest. Undefined if none has a suitable endpoint. */
export async function findFirstCall(db: Db): Promise<FirstCall | undefined> {
    const rows: { site: string; document: PackageDocument }[] = await db('sites as s')
        .join('versions as v', 'v.id', 's.latest_version_id')
        .join('domains as d', 'd.registrable', 's.registrable')
        .where({ 'd.is_blocked': false, 'd.credits': 1 })
        .whereRaw('json_array_length(v.summary) <= 100')
        .orderByRaw(
            "s.site = 'demo-shop.example' desc, v.origin = 'starter' desc, s.verified_at is not null desc, v.published_at desc, s.site",
        )
        .limit(MAX_SITES)
        .select('s.site', 'v.document');
    for (const { site, document } of rows) {
        for (const published of document.endpoints) {
            const { name, hosted, effect, billing, pagination, params, examples } = readEndpoint(published);
            const [example] = examples;
            const needsNoParams = params.every(({ required }) => !required);
            const isSimple = hosted && effect === 'read' && billing.unit === 'request' && pagination === undefined;
            if (isSimple && (example !== undefined || needsNoParams)) return { site, endpoint: name, params: example?.params ?? {} };
        }
    }
    return undefined;
}
