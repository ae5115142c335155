import { readEndpoint } from '../../domain/package/endpoint.ts';
import type { JsonObject, PackageDocument } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

/** A suitable first fetch for a new user: a read that costs one credit and has an example. */
export interface FirstCall {
    site: string;
    endpoint: string;
    params: JsonObject;
}

const LOOKED_AT = 10;

/** Looks in the starter registry, then among verified sites, then among all. Undefined if no endpoint is suitable. */
export async function findFirstCall(db: Db): Promise<FirstCall | undefined> {
    const rows: { site: string; document: PackageDocument }[] = await db('sites as s')
        .join('versions as v', 'v.id', 's.latest_version_id')
        .join('domains as d', 'd.registrable', 's.registrable')
        .where({ 'd.is_blocked': false, 'd.credits': 1 })
        .whereRaw('json_array_length(v.summary) <= 100')
        .orderByRaw(
            "s.site = 'demo-shop.example' desc, v.origin = 'starter' desc, s.verified_at is not null desc, v.published_at desc, s.site",
        )
        .limit(LOOKED_AT)
        .select('s.site', 'v.document');
    for (const { site, document } of rows) {
        for (const published of document.endpoints) {
            const { name, hosted, effect, billing, pagination, params, examples } = readEndpoint(published);
            const [example] = examples;
            const isFree = params.every(({ required }) => !required);
            const isSimple = hosted && effect === 'read' && billing.unit === 'request' && pagination === undefined;
            if (isSimple && (example !== undefined || isFree)) return { site, endpoint: name, params: example?.params ?? {} };
        }
    }
    return undefined;
}
