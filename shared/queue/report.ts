import type { FetchOutcome } from '../domain/fetch.ts';

/** What a worker answers: the outcome, and for how long it worked, in milliseconds; absent where none got so far. */
export type Report = FetchOutcome & { ranMs?: number };

/**
 * A report as it travels: a line of JSON and, where the call succeeded, the site's answer behind it. That is JSON text which nobody on
 * the way looks into: to read and write 5 MiB of it would hold up every other call of the process for as long as it takes.
 */
export function writeReport(report: Report): string {
    if (!report.ok) return JSON.stringify(report);
    const { text, ...head } = report;
    // JSON has line breaks only where somebody laid it out, and this is not.
    return `${JSON.stringify(head)}\n${text}`;
}

/** Reads what `writeReport` wrote. Throws SyntaxError for anything else. */
export function readReport(body: string): Report {
    const end = body.indexOf('\n');
    if (end === -1) return JSON.parse(body) as Report;
    return { ...(JSON.parse(body.slice(0, end)) as Report), text: body.slice(end + 1) } as Report;
}
