import type { ConnectionStatus } from '../../../shared/domain/connections/status.ts';

/** Calls do not use it until it is connected again. */
export function hasEnded(status: ConnectionStatus): boolean {
    return status === 'expired' || status === 'rejected' || status === 'revoked';
}
