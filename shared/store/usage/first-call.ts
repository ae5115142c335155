import { readEndpoint } from '../../domain/package/endpoint.ts';
import type { JsonObject, PackageDocument } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

/** A fetch that is good for a first one: a read that costs one credit and has an example. */
export interface FirstCall {
    site: string;
    endpoint: string;
    params: JsonObject;
}

const LOOKED_AT = 10;

/** A call to begin with: of the starter registry first, then of sites that were verified, then of any. Undefined where none fits. */
export async function findFirstCall(db: Db): Promise<FirstCall | undefined> {
    const { rows } = await db.raw<{ rows: { site: string; document: PackageDocument }[] }>(
        `select s.site, v.document from sites s join versions v on v.id = s.latest_version_id join domains d on d.registrable = s.registrable
         where not d.is_blocked and d.credits = 1 and json_array_length(v.summary) <= 100
         order by s.site = 'demo-shop.example' desc, v.origin = 'starter' desc, s.verified_at is not null desc, v.published_at desc, s.site
         limit ?`,
        [LOOKED_AT],
    );
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
