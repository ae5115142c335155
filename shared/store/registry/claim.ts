import type { Claim } from '../../domain/site/claim.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';

/** The claim (shared/domain/site/claim.ts) of the domain that the SQL expression `registrable` names, as an expression. */
export function claimOf(registrable: string): string {
    return `case when exists (select from maintainers m where m.registrable = ${registrable} and m.proven_at is not null) then 'owner'
                 when exists (select from maintainers m where m.registrable = ${registrable}
                              and (m.workspace_id = '${ROUTEBOOK_WORKSPACE}' or m.granted = 'transferred')) then 'operator'
                 else 'unproven' end`;
}

/** The claim of a domain. */
export async function findClaim(db: Db, registrable: string): Promise<Claim> {
    const { rows } = await db.raw<{ rows: [{ claim: Claim }] }>(
        `select ${claimOf('d.registrable')} as claim from (select ? as registrable) d`,
        [registrable],
    );
    return rows[0].claim;
}

/** Whether some workspace has proved that the domain is its own. */
export async function isProven(db: Db, registrable: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from maintainers where registrable = ? and proven_at is not null limit 1', [
        registrable,
    ]);
    return rows.length > 0;
}
