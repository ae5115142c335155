import type { Db } from '../../platform/db.ts';

export interface DriftedSchema {
    site: string;
    version: number;
    driftedAt: Date;
}

/** Sites whose latest version no longer matches them, latest first; returns `most` rows at most. */
export async function driftedSchemas(db: Db, most: number): Promise<DriftedSchema[]> {
    const { rows } = await db.raw<{ rows: DriftedSchema[] }>(
        `select s.site, v.version, v.drifted_at as "driftedAt" from versions v join sites s on s.latest_version_id = v.id
         where v.drifted_at is not null order by v.drifted_at desc, s.site limit ?`,
        [most],
    );
    return rows;
}

/** Sites and numbers of versions by their ids. */
export async function versionNames(db: Db, ids: readonly number[]): Promise<Map<number, { site: string; version: number }>> {
    const { rows } = await db.raw<{ rows: { id: number; site: string; version: number }[] }>(
        'select id, site, version from versions where id = any (?)',
        [[...ids]],
    );
    return new Map(rows.map(({ id, site, version }) => [id, { site, version }]));
}
