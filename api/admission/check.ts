import type { IncomingMessage, ServerResponse } from 'node:http';

/** Judges a request before hapi does. Calls `pass` to let it continue, or answers it, or delays it. */
export type Check = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void;
