import type { Db } from '../../platform/db.ts';
import { CONNECTION, type Connection } from './connections.ts';

/** Runs look at so many at most. */
const MOST = 20;

/** Connections that maintainers of a site lent to its verification runs. Nobody lends one any more who left, or maintains it no longer. */
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
        .limit(MOST);
    if (!takesCookies) lent.whereRaw("entry ->> 'type' <> 'cookie'");
    return lent.select(CONNECTION);
}
