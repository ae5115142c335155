import { hashOf } from '../words/values.ts';
import type { Exchange } from './exchange.ts';

/** Evidence that a route only takes reports of the visit: its requests contain their time or page, and all get the same answer. */
export interface Reporting {
    /** The number of requests with their own time. */
    timed: number;
    /** The number of requests with the address of the visitor's page. */
    placed: number;
    /** The number of requests with a long text that only its program can read. */
    coded: number;
    /** Hashes of its different answers, at most two. */
    answers: Set<number>;
    /** Whether an answer contained more than an acknowledgement. */
    isTold: boolean;
}

/** The initial value, before any exchange. */
export function createReporting(): Reporting {
    return { timed: 0, placed: 0, coded: 0, answers: new Set(), isTold: false };
}

/** Adds one exchange. */
export function addReporting(reporting: Reporting, { body, sentAt, requestHeaders, answer: { text = '' } }: Exchange): void {
    if (body !== undefined && sentAt !== undefined && saysTime(body.text, sentAt)) reporting.timed++;
    if (body !== undefined && saysPage(body.text, requestHeaders.get('referer') ?? '')) reporting.placed++;
    if (body !== undefined && CODED.test(body.text.slice(0, MAX_READ))) reporting.coded++;
    if (reporting.answers.size < 2) reporting.answers.add(hashOf(text.slice(0, MAX_READ)));
    if (!SAYS_NOTHING.test(text.slice(0, MAX_READ))) reporting.isTold = true;
}

/** Adds the facts of `more`, which is the same route. */
export function mergeReporting(reporting: Reporting, more: Reporting): void {
    reporting.timed += more.timed;
    reporting.placed += more.placed;
    reporting.coded += more.coded;
    reporting.isTold ||= more.isTold;
    for (const answer of more.answers) if (reporting.answers.size < 2) reporting.answers.add(answer);
}

/**
 * Whether a route takes reports of what a visitor does: all of its requests contain their time or page, and get the same answer. A single
 * request may be about its page, so it does not count.
 */
export function areReports({ timed, placed, coded, answers, isTold }: Reporting, sendings: number): boolean {
    if (answers.size !== 1) return false;
    // Bot protection sends such reports repeatedly.
    if (coded === sendings && sendings > 1 && !isTold) return true;
    return timed === sendings ? sendings > 1 || !isTold : placed === sendings && sendings > 1;
}

const MAX_READ = 20_000;
const SAYS_NOTHING =
    /^\s*(?:|"?(?:ok|success|true|1)"?|\{\s*\}|\[\s*\]|\{\s*"(?:ok|success|status)"\s*:\s*(?:true|1|200|"(?:ok|success)")\s*\})\s*$/i;
/** Neither words nor the fields of something. */
const CODED = /[\w+/=;,:-]{100,}/;
/** How far the clocks of a visitor and of a recording may differ, and how long a report may wait. */
const MAX_WAIT = 10 * 60_000;

/** Whether a body has the address of the page that sends it. */
function saysPage(body: string, page: string): boolean {
    const text = body.slice(0, MAX_READ);
    return page !== '' && (text.includes(page) || text.includes(encodeURIComponent(page)));
}

/** Whether a body has the time of its request, in milliseconds or as ISO 8601 writes it. */
function saysTime(body: string, sentAt: number): boolean {
    const times = body.slice(0, MAX_READ).match(/(?<!\d)1\d{12}(?!\d)|20\d{2}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?Z/g) ?? [];
    return times.some((time) => Math.abs((/^\d+$/.test(time) ? Number(time) : Date.parse(time)) - sentAt) < MAX_WAIT);
}
