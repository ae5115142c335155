import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';
import { claimOf } from './claim.ts';

/** One version of a site on a registrable domain. */
export interface VersionOfDomain {
    registrable: string;
    versionId: number;
}

/**
 * Whether it is believed that an endpoint reads although its method usually writes: somebody speaks for the site, or a verification run
 * called that very endpoint of that very version. That of another one says nothing.
 */
export async function isBelievedToRead(db: Db, { registrable, versionId }: VersionOfDomain, endpoint: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: [{ is_believed: boolean }] }>(
        `select ${claimOf('d.registrable')} <> 'unproven'
                or exists (select from versions v where v.id = :versionId and v.verified_at is not null and :endpoint = any (v.passed_endpoints))
                as is_believed
         from (select :registrable as registrable) d`,
        { registrable, versionId, endpoint },
    );
    return rows[0].is_believed;
}

/** Whether the publisher of a version proved the domain, is Routebook, or received the domain from Routebook. */
export async function isPublishedForSite(db: Db, { registrable, versionId }: VersionOfDomain): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>(
        `select from versions v join maintainers m on m.workspace_id = v.published_by_workspace and m.registrable = :registrable
         where v.id = :versionId and (m.proven_at is not null or m.granted = 'transferred' or m.workspace_id = :routebook)`,
        { registrable, versionId, routebook: ROUTEBOOK_WORKSPACE },
    );
    return rows.length > 0;
}
