import { FIND_RULES } from '../../domain/find/endpoint-words.ts';
import type { IndexedPackage } from '../../domain/find/index-package.ts';
import { type Db, lockName, now } from '../../platform/db.ts';
import { isOutage } from '../../platform/pg-errors.ts';
import { millisecondsOf, WEEK } from '../usage/traffic.ts';
import { queueSiteToEmbed } from './endpoint-vectors.ts';

/** The index of endpoints. When the latest version of a site changes, a trigger of `sites` queues the site for indexing. */

export interface Indexing {
    /** Extracts the indexed data of a package. @param text its JSON */
    describe(text: string, site: string): Promise<IndexedPackage>;
    /** Receives the reason why a site could not be indexed. */
    onFault(site: string, error: unknown): void;
}

/** Raw: whether a site is queued. */
export const SITE_WAITS = 'select true from sites_to_index where due_at <= app_now() order by id limit 1';

/** When a site that could not be indexed is tried again, in seconds. */
const RETRY_SECONDS = 60;

/** Indexes a queued site; processes take different ones. A failed site waits a minute. @returns whether one was indexed @throws an outage */
export async function indexNextSite(db: Db, { describe, onFault }: Indexing): Promise<boolean> {
    return db.transaction(async (trx) => {
        const next = trx('sites_to_index').where('due_at', '<=', now(trx)).orderBy('id').limit(1).forUpdate().skipLocked().select('id');
        const [taken] = await trx('sites_to_index').where({ id: next }).delete().returning('site');
        if (taken === undefined) return false;
        try {
            await trx.transaction((inner) => indexSite(inner, taken.site, describe));
            return true;
        } catch (error) {
            if (isOutage(error)) throw error;
            onFault(taken.site, error);
            await trx('sites_to_index').insert({ site: taken.site, due_at: trx.raw(`app_now() + ${RETRY_SECONDS} * interval '1 second'`) });
            return false;
        }
    });
}

async function indexSite(db: Db, site: string, describe: Indexing['describe']): Promise<void> {
    // If two processes index the same site, the second one reads the version that is the latest after the first one has finished.
    await lockName(db, `endpoints of ${site}`);
    const latest = await db('sites as s')
        .join('versions as v', 'v.id', 's.latest_version_id')
        .where({ 's.site': site })
        .first('v.id', db.raw('v.document::text as document'));
    const described = latest === undefined ? { endpoints: [], words: [] } : await describe(latest.document, site);
    // Locks the domain first, like a yank, because endpoints refer to it. A site whose latest version changed meanwhile is queued again.
    await db('domains').whereIn('registrable', db('sites').where({ site }).select('registrable')).forKeyShare().select('registrable');
    const current = await db('sites').where({ site }).first('latest_version_id');
    if ((current?.latest_version_id ?? null) !== (latest?.id ?? null)) return;
    await removeEndpoints(db, site);
    if (latest === undefined) return;
    const { endpoints, words } = described;
    await queueSiteToEmbed(db, site);
    await db.raw(ADD_ENDPOINTS, { site, version: latest.id, rows: JSON.stringify(endpoints) });
    // A fixed order prevents deadlocks between two sites that add the same words.
    await db.raw('insert into endpoint_words (word) select unnest(?::text[]) on conflict do nothing', [words.toSorted()]);
}

/** Removes the endpoints of a site from the index, except those of this version. */
export async function removeEndpoints(db: Db, site: string, exceptOf?: number): Promise<void> {
    const endpoints = db('endpoints').where({ site });
    if (exceptOf !== undefined) endpoints.whereNot({ version_id: exceptOf });
    await endpoints.delete();
}

/** Queues sites that were indexed by older rules. Any number of processes may call it. */
export async function reindexOldEndpoints(db: Db): Promise<void> {
    await db.transaction(async (trx) => {
        const changed = await trx('endpoint_rules').where('rules', '<', FIND_RULES).update({ rules: FIND_RULES });
        if (changed > 0) await trx.raw('insert into sites_to_index (site) select site from sites where latest_version_id is not null');
    });
}

/** Copies to the endpoints of a version whether it is verified. */
export async function noteVerified(db: Db, versionId: number): Promise<void> {
    const version = db('versions').where({ id: versionId });
    await db('endpoints')
        .where({ version_id: versionId, site: version.clone().select('site') })
        .update({ is_verified: version.clone().select(db.raw('verified_at is not null')) });
}

/** Copies call statistics, except to endpoints that are being indexed. Analyzes the table, because its statistics decide plans of lists. */
export async function noteCalls(db: Db): Promise<void> {
    await db.raw(NOTE_CALLS);
    await db.raw('select endpoints_analyze()');
}

const SAME = (table: string) => `${table}.site collate "C" = e.site and ${table}.endpoint collate "C" = e.name`;

/** Raw: one statement for all endpoints. */
const NOTE_CALLS = `
    with ${WEEK}, calls as (
        select u.site, u.endpoint, (sum(u.successes) / nullif(sum(u.successes + u.failures), 0))::real as rate
        from endpoint_days u, week where u.day >= week.first_day group by u.site, u.endpoint
    ), durations as (
        select site, endpoint, ${millisecondsOf('min(bucket)')} as p95_ms from (
            select u.site, u.endpoint, u.bucket, sum(sum(u.successes)) over (partition by u.site, u.endpoint order by u.bucket) as up_to,
                   sum(sum(u.successes)) over (partition by u.site, u.endpoint) as all_of_them
            from endpoint_durations u, week where u.day >= week.first_day group by u.site, u.endpoint, u.bucket) as running
        where up_to >= 0.95 * all_of_them group by site, endpoint
    ), changed as materialized (
        select e.id, c.rate, d.p95_ms
        from endpoints e left join calls c on ${SAME('c')} left join durations d on ${SAME('d')}
        where (e.success_rate, e.p95_ms) is distinct from (c.rate, d.p95_ms)
        for no key update of e skip locked
    )
    update endpoints e set success_rate = c.rate, p95_ms = c.p95_ms from changed c where c.id = e.id`;

/** Raw: one statement for all endpoints of a package. The tier of an endpoint is pseudo-random, and the same each time. */
const ADD_ENDPOINTS = `
    with given as materialized (
        select nextval('endpoint_ids') as id, e.*
        from json_to_recordset(cast(:rows as json)) as e (
            place integer, name text, kind text, effect text, search text, brevity real, "needsId" boolean, direction text, entry text)
    ), entered as (
        insert into endpoint_entries (endpoint_id, entry) select id, entry::json from given
    )
    insert into endpoints (id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity,
                           needs_id, direction)
    select e.id, s.site, s.registrable, :version, e.place, e.name, e.kind, e.effect, s.intent_category, s.verified_at is not null,
           case when hashtext(s.site || '/' || e.name) & 63 = 0 then 0 when hashtext(s.site || '/' || e.name) & 7 = 0 then 1 else 2 end,
           e.search::tsvector, e.brevity, e."needsId", e.direction
    from sites s, given e
    where s.site = :site`;
