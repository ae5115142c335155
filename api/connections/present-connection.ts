import type { ConnectionEntry } from '../../shared/contracts/connections.ts';
import type { Connection } from '../../shared/store/connections/connections.ts';

export function presentConnection(connection: Connection): ConnectionEntry {
    const { connectionId, authId, entry, ownerId, verifies, createdAt, lastUsedAt, expiresAt } = connection;
    const { site, name, shared, hosts, scopes, status, hint } = connection;
    return {
        connection_id: connectionId,
        site,
        auth_id: authId,
        type: entry.type,
        name,
        shared,
        owner: ownerId,
        hosts,
        scopes,
        status,
        verify_with: verifies,
        hint,
        created_at: createdAt.toISOString(),
        last_used_at: lastUsedAt?.toISOString() ?? null,
        expires_at: expiresAt?.toISOString() ?? null,
    };
}
