import type { FetchMeta } from '../shared/contracts/fetch.ts';

/** The text of an answer before and after `meta.credits_remaining`. */
export interface AroundBalance {
    head: string;
    tail: string;
}

const BEFORE_DATA = '{"success":true,"data":';
const BEFORE_META = ',"meta":{"credits_used":';

/** The site's answer goes out as the text that it came as. */
export function around(text: string, { credits_used, ...rest }: Omit<FetchMeta, 'credits_remaining'>): AroundBalance {
    return {
        head: `${BEFORE_DATA}${text}${BEFORE_META}${credits_used},"credits_remaining":`,
        tail: `,${JSON.stringify(rest).slice(1)}}`,
    };
}

/**
 * The two parts of such a text, without reading it; undefined for any other. What `meta` says of names has its quotes escaped, so that
 * its beginning is the last of its kind.
 */
export function partsOf(answer: string): { data: string; meta: string } | undefined {
    const at = answer.lastIndexOf(BEFORE_META);
    if (!answer.startsWith(BEFORE_DATA) || at < 0) return undefined;
    return { data: answer.slice(BEFORE_DATA.length, at), meta: answer.slice(at + ',"meta":'.length, -1) };
}
