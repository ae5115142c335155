import type { ConnectionStatus } from '../../../shared/domain/connections/status.ts';

/** Whether calls do not use the connection until it is connected again. */
export function hasEnded(status: ConnectionStatus): boolean {
    return status === 'expired' || status === 'rejected' || status === 'revoked';
}
