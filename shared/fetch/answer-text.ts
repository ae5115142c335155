import type { FetchMeta } from '../contracts/fetch.ts';
import { isOneValue } from '../domain/json/tokens.ts';
import type { Found } from './admit.ts';
import type { FetchOrder } from './order.ts';
import { type FetchSuccess, partialErrorOf } from './settle.ts';

/** The text of an answer before and after `meta.credits_remaining`. */
interface AroundBalance {
    head: string;
    tail: string;
}

const BEFORE_SUCCESS = '{"success":true,';
const BEFORE_DATA = `${BEFORE_SUCCESS}"data":`;
const BEFORE_META = ',"meta":{"credits_used":';

/** Passes the site's answer through as text. */
export function splitAroundBalance(text: string, { credits_used, ...rest }: Omit<FetchMeta, 'credits_remaining'>): AroundBalance {
    return {
        head: `${BEFORE_DATA}${text}${BEFORE_META}${credits_used},"credits_remaining":`,
        tail: `,${JSON.stringify(rest).slice(1)}}`,
    };
}

/**
 * Splits such a text without parsing it; undefined for any other text. Quotes within `meta` are escaped, so the last match is the right
 * one. In the answer of a job it is the `meta` of the result within the job, and more closes behind it.
 */
export function partsOf(answer: string): { data: string; meta: string } | undefined {
    const at = answer.lastIndexOf(BEFORE_META);
    if (!answer.startsWith(BEFORE_DATA) || at < 0) return undefined;
    const meta = answer.slice(at + ',"meta":'.length, -1);
    return isOneValue(meta) ? { data: answer.slice(BEFORE_DATA.length, at), meta } : undefined;
}

/** The answer in two parts: between them goes the balance after the charge. */
export function answerText(
    { requestId, times }: FetchOrder,
    { found }: { found: Found },
    { outcome, charged, durationMs }: { outcome: FetchSuccess; charged: number; durationMs: number },
): AroundBalance {
    const { upstream } = outcome;
    return splitAroundBalance(outcome.text, {
        credits_used: charged,
        request_id: requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results: outcome.results,
        truncated: outcome.truncated,
        ...(outcome.paginationEnd === undefined ? {} : { pagination_end: outcome.paginationEnd }),
        ...(outcome.nextCursor === undefined ? {} : { next_cursor: outcome.nextCursor }),
        ...(outcome.failedPage === undefined ? {} : { partial_error: partialErrorOf(outcome.failedPage) }),
        cached: false,
        duration_ms: Math.round(durationMs),
        // The clocks of two machines differ a little.
        queue_ms: Math.max(0, Math.round(outcome.startedAt - times.admittedAt)),
        upstream: {
            status: upstream.status,
            attempts: upstream.attempts,
            duration_ms: Math.round(upstream.durationMs),
            bytes: upstream.bytes,
        },
    });
}

/** The same as the `result` of a job: data and meta alone. */
export function asResult({ head, tail }: AroundBalance): AroundBalance {
    return { head: `{${head.slice(BEFORE_SUCCESS.length)}`, tail };
}

/** Data and meta of the `result` of a job, as JSON text. */
export function partsOfResult(result: string): { data: string; meta: string } | undefined {
    return partsOf(`${BEFORE_SUCCESS}${result.slice(1)}`);
}

/** The answer with a stored result that the account paid for before. */
export function storedText(order: FetchOrder, found: Found, { text, results }: { text: string; results: number }): AroundBalance {
    return splitAroundBalance(text, {
        credits_used: 0,
        request_id: order.requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results,
        truncated: false,
        cached: true,
        duration_ms: Math.round(performance.now() - order.times.began),
    });
}
