import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyContract } from '../../shared/contracts/contract.ts';

/** A request before hapi has seen it. */
export interface Arrival {
    request: IncomingMessage;
    response: ServerResponse;
    /** The path of its route, with placeholders. Undefined for unknown paths. */
    readonly path: string | undefined;
    /** Undefined for pages, probes and unknown paths. */
    readonly contract: AnyContract | undefined;
}

/** Checks a request before hapi does. Calls `pass` to let it continue, or answers it, or delays it. */
export type Check = (arrival: Arrival, pass: () => void) => void;
