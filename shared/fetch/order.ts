import type { FetchRequest } from '../contracts/fetch.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { Times } from './deadlines.ts';

/** The order of a fetch. It is plain data, so that a process without the request can run it. */
export interface FetchOrder {
    /** `op_…`: our own id of this call. It is always unique; request ids may repeat. */
    operation: string;
    requestId: string;
    caller: Caller;
    body: FetchRequest;
    /** The look-up that led to it, as the caller says. */
    sessionId?: string | undefined;
    times: Times;
}
