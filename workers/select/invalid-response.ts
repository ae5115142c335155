import type { Detail } from '../../shared/refusals.ts';

/** A complete page that does not fit the schema, or (UPSTREAM_TOO_LARGE) nests too deep. The message is public. */
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
