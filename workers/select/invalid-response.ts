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
