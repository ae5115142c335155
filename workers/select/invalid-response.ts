import type { Detail } from '../../shared/refusals.ts';

/** A page that came whole, but is not what the schema describes, or (UPSTREAM_TOO_LARGE) nests too deep. Its message is public. */
export class InvalidResponse extends Error {
    readonly code: 'UPSTREAM_INVALID_RESPONSE' | 'UPSTREAM_TOO_LARGE';
    readonly details: Detail[];

    constructor(message: string, details: Detail[] = [], code: InvalidResponse['code'] = 'UPSTREAM_INVALID_RESPONSE') {
        super(message);
        this.code = code;
        this.details = details;
    }
}

/** `select` is written for another kind of answer than this one, which is what sites send while something is wrong with them. */
export function cannotSelect(path: string, message: string): InvalidResponse {
    return new InvalidResponse('What this endpoint selects cannot be selected from this kind of answer.', [
        { path, code: 'INVALID_TYPE', message },
    ]);
}
