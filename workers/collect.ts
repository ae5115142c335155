import { defined } from '../shared/domain/defined.ts';
import type { FetchFailure, FetchOutcome } from '../shared/domain/fetch/fetch-job.ts';
import type { LoginSign } from '../shared/domain/fetch/login-words.ts';
import type { PreparedForm } from '../shared/domain/fetch/prepared-form.ts';
import { escapePointer } from '../shared/domain/json/json-bounds.ts';
import type { Endpoint, Values } from '../shared/domain/types.ts';
import { planPage } from './paging/plan-page.ts';
import { SIGN_IN } from './select/sign-in-page.ts';
import type { RunningCall } from './site-call.ts';

/** The result of a call, validated by `response.schema` and cut to the wanted results. */
export type Collected = Pick<
    Extract<FetchOutcome, { ok: true }>,
    'ok' | 'text' | 'results' | 'requests' | 'truncated' | 'paginationEnd' | 'next' | 'failedPage' | 'login'
>;

export interface Collecting extends RunningCall {
    values: Values;
    form?: PreparedForm | undefined;
}

export async function collectOne(collecting: Collecting): Promise<Collected | FetchFailure> {
    const { call, reader, endpoint, values, job, userAgent, form, turn } = collecting;
    const request = planPage(endpoint, values, userAgent, form);
    const answer = await call.send(request, { effect: job.effect, namedBy: namedBy(form) });
    if (!answer.ok) return answer;
    const { billing } = endpoint;
    const reading = await reader.read(answer.page, endpoint, { results: billing.results, maxResults: job.maxResults }, turn);
    if (!reading.ok) return reading;
    if (billing.unit === 'result' && !reading.isListed) return withoutResults(endpoint, reading.login);
    const { text, results, truncated, login } = reading;
    return defined<Collected>({ ok: true, text, results, requests: 1, truncated, login });
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
