import type { ConnectionStatus } from '../../../shared/domain/connections/status.ts';

/** Calls use it no more before it is connected again. */
export function hasEnded(status: ConnectionStatus): boolean {
    return status === 'expired' || status === 'rejected' || status === 'revoked';
}
