import type { ConnectionEntry } from '../../shared/contracts/connections.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { Connection } from '../../shared/store/connections/connections.ts';

export function presentConnection({ entry, ownerId, verifies, ...connection }: Connection): ConnectionEntry {
    const shown = { ...connection, type: entry.type, owner: ownerId, verifyWith: verifies };
    return presentFields(
        shown,
        'connection_id site auth_id type name shared owner hosts scopes status verify_with hint created_at last_used_at expires_at',
    );
}
