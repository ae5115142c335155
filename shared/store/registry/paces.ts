import type { Db } from '../../platform/db.ts';

/** Requests a minute to each host, by host name. */
export type HostPaces = Readonly<Record<string, number>>;

const LOWEST = `
    (select jsonb_object_agg(host, pace) from (
        select host, min(v.pace) as pace
        from sites s join versions v on v.id = s.latest_version_id, unnest(v.hosts) host
        where s.registrable = domains.registrable and v.pace is not null
        group by host) lowest)`;

/** Stores the lowest rate of each host over the latest versions. Call it where these change, with the domain locked. */
export async function storePaces(db: Db, registrable: string): Promise<void> {
    await db.raw(`update domains set paces = ${LOWEST} where registrable = ? and paces is distinct from ${LOWEST}`, [registrable]);
}
