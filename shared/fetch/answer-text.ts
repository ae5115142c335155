import type { FetchMeta } from '../contracts/fetch.ts';
import type { FetchOutcome } from '../domain/fetch/fetch-job.ts';
import { isOneValue } from '../domain/json/tokens.ts';
import type { StoredResult } from '../store/fetch/results.ts';
import { partialErrorOf } from './failure.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

export type FetchSuccess = FetchOutcome & { ok: true };

/** The text of an answer before and after the value of `meta.credits_remaining`. */
interface AnswerParts {
    head: string;
    tail: string;
}

const BEFORE_SUCCESS = '{"success":true,';
const BEFORE_DATA = `${BEFORE_SUCCESS}"data":`;
const BEFORE_META = ',"meta":{"credits_used":';

/** Embeds the answer of the site as text, without parsing it. */
export function splitAroundBalance(text: string, { credits_used, ...rest }: Omit<FetchMeta, 'credits_remaining'>): AnswerParts {
    return {
        head: `${BEFORE_DATA}${text}${BEFORE_META}${credits_used},"credits_remaining":`,
        tail: `,${JSON.stringify(rest).slice(1)}}`,
    };
}

/**
 * Splits an answer into data and meta without parsing the data; undefined for any other text. Quotes within `meta` are escaped, so the last
 * match is the right one. In the answer of a job, that match is the `meta` of the nested result, and more text follows it.
 */
export function splitAnswer(answer: string): { data: string; meta: string } | undefined {
    const at = answer.lastIndexOf(BEFORE_META);
    if (!answer.startsWith(BEFORE_DATA) || at < 0) return undefined;
    const meta = answer.slice(at + ',"meta":'.length, -1);
    return isOneValue(meta) ? { data: answer.slice(BEFORE_DATA.length, at), meta } : undefined;
}

/** The answer in two parts. The balance after the charge goes between them. */
export function answerText(
    { requestId, times }: FetchOrder,
    { found }: { found: Found },
    { outcome, charged, durationMs }: { outcome: FetchSuccess; charged: number; durationMs: number },
): AnswerParts {
    const { upstream } = outcome;
    return splitAroundBalance(outcome.text, {
        credits_used: charged,
        request_id: requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results: outcome.results,
        truncated: outcome.truncated,
        pagination_end: outcome.paginationEnd,
        next_cursor: outcome.nextCursor,
        partial_error: outcome.failedPage && partialErrorOf(outcome.failedPage),
        cached: false,
        duration_ms: Math.round(durationMs),
        // The clocks of two machines differ slightly, so the difference can be negative.
        queue_ms: Math.max(0, Math.round(outcome.startedAt - times.admittedAt)),
        upstream: {
            status: upstream.status,
            attempts: upstream.attempts,
            duration_ms: Math.round(upstream.durationMs),
            bytes: upstream.bytes,
        },
    });
}

/** The same answer as the `result` of a job: only data and meta. */
export function asResult({ head, tail }: AnswerParts): AnswerParts {
    return { head: `{${head.slice(BEFORE_SUCCESS.length)}`, tail };
}

/** Data and meta of the `result` of a job, as JSON text. */
export function splitResult(result: string): { data: string; meta: string } | undefined {
    return splitAnswer(`${BEFORE_SUCCESS}${result.slice(1)}`);
}

/** The answer for a stored result that the account has already paid for. */
export function storedText(order: FetchOrder, found: Found, { text, results, paginationEnd }: StoredResult): AnswerParts {
    return splitAroundBalance(text, {
        credits_used: 0,
        request_id: order.requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results,
        truncated: false,
        pagination_end: paginationEnd,
        cached: true,
        duration_ms: Math.round(performance.now() - order.times.began),
    });
}
