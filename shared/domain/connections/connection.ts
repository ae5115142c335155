/** `rejected`: the site refused it three times in a row; `revoked`: its grant was withdrawn at the site. */
export const CONNECTION_STATUSES = ['untested', 'active', 'expired', 'rejected', 'revoked'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** Whether calls do not use the connection until it is connected again. */
export function hasEnded(status: ConnectionStatus): boolean {
    return status === 'expired' || status === 'rejected' || status === 'revoked';
}
