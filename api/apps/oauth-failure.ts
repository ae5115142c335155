/** An OAuth error response (RFC 6749, section 5.2). */
export class OAuthFailure extends Error {
    readonly code: string;
    readonly status: number;
    readonly retryAfter: number | undefined;
    readonly headers: Readonly<Record<string, string>>;

    /** @param retryAfter seconds */
    constructor(code: string, message: string, status = 400, retryAfter?: number, headers: Readonly<Record<string, string>> = {}) {
        super(message);
        this.code = code;
        this.status = status;
        this.retryAfter = retryAfter;
        this.headers = headers;
    }
}
