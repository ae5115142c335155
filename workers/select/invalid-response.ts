import type { Detail } from '../../shared/refusals.ts';

/** The answer arrived in full, but does not fit the endpoint or exceeds a limit. Callers see the message. */
export class InvalidResponse extends Error {
    readonly code: 'UPSTREAM_INVALID_RESPONSE' | 'UPSTREAM_TOO_LARGE';
    readonly details: Detail[];

    constructor(message: string, details: Detail[] = [], code: InvalidResponse['code'] = 'UPSTREAM_INVALID_RESPONSE') {
        super(message);
        this.code = code;
        this.details = details;
    }
}

/** The fault when `select` is for another type of answer. Sites often send another type when they have a problem. */
export function cannotSelect(path: string, message: string): InvalidResponse {
    return new InvalidResponse('What this endpoint selects cannot be selected from this kind of answer.', [
        { path, code: 'INVALID_TYPE', message },
    ]);
}

/** Why a page could not be read. */
export interface Refused {
    ok: false;
    code: InvalidResponse['code'] | 'UPSTREAM_BLOCKED' | 'UPSTREAM_TIMEOUT';
    message: string;
    details: InvalidResponse['details'];
}

/** The result of `read`, or its InvalidResponse as a value. */
export function catchInvalid<T extends { ok: true }>(read: () => T): T | Refused {
    try {
        return read();
    } catch (error) {
        if (error instanceof InvalidResponse) return { ok: false, code: error.code, message: error.message, details: error.details };
        throw error;
    }
}

export const TOO_MUCH_WORK = 'The answer takes too much work to select and validate.';
