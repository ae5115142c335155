import type { Identity } from '../shared/domain/fetch/build-request.ts';
import type { Continuation } from '../shared/domain/fetch/continuation.ts';
import type { FailedPage, FetchFailure, FetchJob } from '../shared/domain/fetch/fetch-job.ts';
import type { LoginSign } from '../shared/domain/fetch/login-words.ts';
import type { PaginationEnd } from '../shared/domain/fetch/pages.ts';
import type { PreparedForm } from '../shared/domain/fetch/prepared-form.ts';
import { escapePointer } from '../shared/domain/json/json-bounds.ts';
import type { Endpoint, Values } from '../shared/domain/types.ts';
import { planPage } from './paging/plan-page.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import { SIGN_IN } from './select/sign-in-page.ts';
import type { SiteCall } from './site-call.ts';

/** The result of a call, validated by `response.schema` and cut to the wanted results. */
export interface Collected {
    ok: true;
    /** A JSON object. */
    text: string;
    results: number;
    truncated: boolean;
    pagesWithItems: number;
    /** Whether the site has more results than requested. */
    isMoreLeft: boolean;
    /** Why a walk over pages ended. */
    paginationEnd?: PaginationEnd;
    /** Where the next call continues the walk. */
    next?: Continuation;
    /** The page that ended the walk of a `partial` call. */
    failedPage?: FailedPage;
    /** Whether the first page asks to sign in. */
    login?: LoginSign;
    isUnread?: true;
}

export interface Collecting {
    call: SiteCall;
    reader: Reader;
    endpoint: Endpoint;
    values: Values;
    job: FetchJob;
    identity: Identity;
    form: PreparedForm | undefined;
    turn: ReadingTurn;
}

export async function collectOne(collecting: Collecting): Promise<Collected | FetchFailure> {
    const { call, reader, endpoint, values, job, identity, form, turn } = collecting;
    const request = planPage(endpoint, values, identity, form);
    const answer = await call.send(request, { effect: job.effect, namedBy: namedBy(form) });
    if (!answer.ok) return answer;
    const { billing } = endpoint;
    const reading = await reader.read(answer.page, endpoint, { results: billing.results, maxResults: job.maxResults }, turn);
    if (!reading.ok) return reading;
    if (billing.unit === 'result' && !reading.isListed) return withoutResults(endpoint, reading.login);
    const { text, results, truncated, login } = reading;
    const whole: Collected = { ok: true, text, results, truncated, pagesWithItems: results === 0 ? 0 : 1, isMoreLeft: false };
    return login === undefined ? whole : { ...whole, login };
}

/** The beginning of the error message if the site named the first URL of the call (in the form's action). */
export function namedBy(form: PreparedForm | undefined): string | undefined {
    return form === undefined ? undefined : 'The form of the page leads';
}

/** Endpoints that are billed by result, or paginated, must have results. */
export function withoutResults({ billing: { results } }: Endpoint, login: LoginSign | undefined): FetchFailure {
    const message = 'The answer has no list of results where the schema says.';
    return {
        ok: false,
        code: 'UPSTREAM_INVALID_RESPONSE',
        message: login === 'page' ? `${SIGN_IN} ${message}` : message,
        details: [
            { path: `/${results.split('.').map(escapePointer).join('/')}`, code: 'INVALID_TYPE', message: 'There is no array here.' },
        ],
    };
}
