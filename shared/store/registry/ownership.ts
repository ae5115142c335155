import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';

/** The workspaces that speak for a domain: those that proved it, Routebook, and those to which Routebook transferred it. */

/** A SQL expression for the claim (shared/domain/site/claim.ts) of the domain that the SQL expression `registrable` names. */
export function claimOf(registrable: string): string {
    return `case when exists (select from maintainers m where m.registrable = ${registrable} and m.proven_at is not null) then 'owner'
                 when exists (select from maintainers m where m.registrable = ${registrable}
                              and (m.workspace_id = '${ROUTEBOOK_WORKSPACE}' or m.granted = 'transferred')) then 'operator'
                 else 'unproven' end`;
}

/** The workspaces that have proven the domain, in the order of their proofs. */
export async function ownersOf(db: Db, registrable: string): Promise<string[]> {
    return db('maintainers').where({ registrable }).whereNotNull('proven_at').orderBy(['proven_at', 'workspace_id']).pluck('workspace_id');
}

export async function isOwner(db: Db, registrable: string, workspaceId: string): Promise<boolean> {
    return (await ownersOf(db, registrable)).includes(workspaceId);
}

export interface VersionOfDomain {
    registrable: string;
    versionId: number;
}

/** Raw, because it runs during fetches. */
const IS_TRUSTED = `
    select ${claimOf('d.registrable')} <> 'unproven'
           or exists (select from versions v where v.id = :versionId and v.verified_at is not null and :endpoint = any (v.passed_endpoints))
           as is_trusted
    from (select :registrable as registrable) d`;

/** Whether a POST declared as a read is one: the publisher speaks for the site, or a verification run called it in this version. */
export async function isTrustedRead(db: Db, version: VersionOfDomain, endpoint: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: [{ is_trusted: boolean }] }>(IS_TRUSTED, { ...version, endpoint });
    return rows[0].is_trusted;
}

/** Whether the publisher of a version proved the domain, is Routebook, or received the domain from Routebook. */
export async function isPublishedForSite(db: Db, { registrable, versionId }: VersionOfDomain): Promise<boolean> {
    const version = await db('versions as v')
        .join('maintainers as m', 'm.workspace_id', 'v.published_by_workspace')
        .where({ 'v.id': versionId, 'm.registrable': registrable })
        .where((is) =>
            is.whereNotNull('m.proven_at').orWhere({ 'm.granted': 'transferred' }).orWhere({ 'm.workspace_id': ROUTEBOOK_WORKSPACE }),
        )
        .first('v.id');
    return version !== undefined;
}
