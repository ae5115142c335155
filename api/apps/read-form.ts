import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { TOKEN_REQUESTS } from '../../shared/domain/accounts/plans.ts';
import { textProblem } from '../../shared/domain/text/text-rule.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { readForm } from '../bodies/form.ts';
import { readBytes } from '../bodies/read-body.ts';

const FORM_BYTES = 16 * 1024;

/** Counts the request against the rate limit of its address and reads its form. @throws OAuthFailure */
export async function readOAuthForm(app: App, request: Request): Promise<Record<string, string>> {
    const verdict = await app.limits.take({
        identity: `oauth:ip:${limitIdentity(request.app.clientAddress)}`,
        windows: [TOKEN_REQUESTS],
    });
    if (!verdict.ok) {
        app.metrics.rateLimited.inc({ plan: 'anonymous', window: 'oauth' });
        throw tooManyRequests('Too many requests from this address.', verdict.retryAfter);
    }
    const type = request.raw.req.headers['content-type'] ?? '';
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type.trim())) {
        throw new OAuthFailure('invalid_request', 'Send the body as a form: application/x-www-form-urlencoded.');
    }
    const read = readForm(await readBytes(request, FORM_BYTES));
    if (!read.ok) throw new OAuthFailure('invalid_request', read.problem);
    if (read.fields.some(([, value]) => textProblem(value) !== undefined)) {
        throw new OAuthFailure('invalid_request', 'A field has characters that are not allowed in text.');
    }
    // An empty field counts as left out (RFC 6749, section 3.2).
    return Object.fromEntries(read.fields.filter(([, value]) => value !== ''));
}

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
