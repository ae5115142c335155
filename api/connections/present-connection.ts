import type { ConnectionEntry } from '../../shared/contracts/connections.ts';
import type { Connection } from '../../shared/store/connections/connections.ts';

export function presentConnection(connection: Connection): ConnectionEntry {
    const {
        connectionId,
        site,
        authId,
        entry,
        name,
        shared,
        ownerId,
        hosts,
        hint,
        createdAt,
        lastUsedAt,
        scopes,
        status,
        verifies,
        expiresAt,
    } = connection;
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
