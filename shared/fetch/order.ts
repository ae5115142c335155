import type { FetchRequest } from '../contracts/fetch.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { Times } from './deadlines.ts';

/** The order of a fetch. It is plain data, so that a process that did not receive the request can run it. */
export interface FetchOrder {
    /** `op_…`: the internal id of this call. It is always unique; request ids may repeat. */
    operation: string;
    requestId: string;
    caller: Caller;
    body: FetchRequest;
    /** The look-up session that led to this call, as the caller reports it. */
    sessionId?: string | undefined;
    times: Times;
}

/** Whether a call may end without a request to the site and without a hold: a dry run, or one that a stored result may answer. */
export function mayEndUnsent({ dry_run: isDry, max_age: maxAge = 0 }: FetchRequest): boolean {
    return isDry === true || maxAge > 0;
}
