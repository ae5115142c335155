import type { FetchMeta } from '../../shared/contracts/fetch.ts';

/** The text of an answer before and after `meta.credits_remaining`. */
export interface AroundBalance {
    head: string;
    tail: string;
}

const BEFORE_DATA = '{"success":true,"data":';
const BEFORE_META = ',"meta":{"credits_used":';

/** Passes the site's answer through as text. */
export function around(text: string, { credits_used, ...rest }: Omit<FetchMeta, 'credits_remaining'>): AroundBalance {
    return {
        head: `${BEFORE_DATA}${text}${BEFORE_META}${credits_used},"credits_remaining":`,
        tail: `,${JSON.stringify(rest).slice(1)}}`,
    };
}

/**
 * Splits such a text without parsing it; undefined for any other text. Quotes within `meta` are escaped, so the last match is the right
 * one.
 */
export function partsOf(answer: string): { data: string; meta: string } | undefined {
    const at = answer.lastIndexOf(BEFORE_META);
    if (!answer.startsWith(BEFORE_DATA) || at < 0) return undefined;
    return { data: answer.slice(BEFORE_DATA.length, at), meta: answer.slice(at + ',"meta":'.length, -1) };
}
