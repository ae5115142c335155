/** An OAuth error response (RFC 6749, section 5.2). */
export class OAuthFailure extends Error {
    readonly code: string;
    readonly status: number;
    readonly retryAfter: number | undefined;

    /** @param retryAfter seconds */
    constructor(code: string, message: string, status = 400, retryAfter?: number) {
        super(message);
        this.code = code;
        this.status = status;
        this.retryAfter = retryAfter;
    }
}
