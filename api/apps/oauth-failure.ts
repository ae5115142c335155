/** An OAuth error response (RFC 6749, section 5.2). */
export class OAuthFailure extends Error {
    readonly code: string;
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;

    constructor(code: string, message: string, status = 400, headers: Readonly<Record<string, string>> = {}) {
        super(message);
        this.code = code;
        this.status = status;
        this.headers = headers;
    }
}

/** 429: too many requests. @param retryAfter seconds */
export function tooManyRequests(message: string, retryAfter: number): OAuthFailure {
    return new OAuthFailure('temporarily_unavailable', message, 429, { 'retry-after': String(retryAfter) });
}
