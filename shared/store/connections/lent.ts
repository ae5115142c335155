import type { Db } from '../../platform/db.ts';
import { CONNECTION, type Connection } from './connections.ts';

/** Maximum number of lent connections that a run considers. */
const MAX = 20;

/** What maintainers of a site lent to its verification runs, without connections of users who left or maintain it no longer. */
export async function lentConnections(
    db: Db,
    { site, registrable, takesCookies }: { site: string; registrable: string; takesCookies: boolean },
): Promise<Connection[]> {
    const maintainers = db('maintainers').where({ registrable }).select('workspace_id');
    const owners = db('users').where({ suspended_at: null }).select('id');
    const lent = db('connections')
        .where({ site, verifies: true, status: 'active' })
        .whereIn('workspace_id', maintainers)
        .whereIn('owner_id', owners)
        .orderBy('id')
        .limit(MAX);
    if (!takesCookies) lent.whereRaw("entry ->> 'type' <> 'cookie'");
    return lent.select(CONNECTION);
}
