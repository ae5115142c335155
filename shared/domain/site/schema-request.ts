/** Types and rules of schema requests (docs/api.md, "The registry"). */

export const READ_OR_WRITE = ['read', 'write', 'read_write'] as const;
export const AUTH_SHAPES = ['public', 'anonymous', 'login', 'oauth', 'owner_approved'] as const;
export const FREQUENCIES = ['once', 'daily', 'hourly', 'continuous'] as const;
export const REQUEST_STATUSES = ['open', 'in_progress', 'fulfilled', 'declined'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The details of a request. Absent details are null. */
export interface NewRequest {
    domain: string;
    registrable: string;
    task: string;
    readOrWrite: (typeof READ_OR_WRITE)[number] | null;
    authShape: (typeof AUTH_SHAPES)[number] | null;
    outputShape: string | null;
    failureMode: string | null;
    intentCategory: string | null;
    sourceUrl: string | null;
    frequency: (typeof FREQUENCIES)[number] | null;
    requesterContact: string | null;
}

/** The public part of a request, without its author and the author's address and contact. */
export interface SchemaRequest extends Omit<NewRequest, 'registrable' | 'requesterContact' | 'sourceUrl'> {
    id: string;
    status: RequestStatus;
    demand: number;
    createdAt: Date;
    updatedAt: Date;
    fulfilledBy: { site: string; version: number } | null;
    history: { status: RequestStatus; at: Date }[];
}

/** The allowed changes of status. They only go forward; fulfilled and declined are final. */
const NEXT: Readonly<Record<RequestStatus, readonly RequestStatus[]>> = {
    open: ['in_progress', 'fulfilled', 'declined'],
    in_progress: ['fulfilled', 'declined'],
    fulfilled: [],
    declined: [],
};

export function isStepForward(from: RequestStatus, to: RequestStatus): boolean {
    return NEXT[from].includes(to);
}
