import type { FetchOutcome } from '../../domain/fetch/fetch-job.ts';

/**
 * Serializes a report: one line of JSON and, on success, the answer of the site after it. The answer is JSON text that no process parses on
 * the way, because parsing and writing 5 MiB would block all other calls of the process.
 */
export function writeReport(report: FetchOutcome): string {
    if (!report.ok) return JSON.stringify(report);
    const { text, ...head } = report;
    // `JSON.stringify` without indentation writes no line breaks.
    return `${JSON.stringify(head)}\n${text}`;
}

/** Reads what `writeReport` wrote. Throws SyntaxError for anything else. */
export function readReport(body: string): FetchOutcome {
    const end = body.indexOf('\n');
    if (end === -1) return JSON.parse(body) as FetchOutcome;
    return { ...(JSON.parse(body.slice(0, end)) as FetchOutcome), text: body.slice(end + 1) } as FetchOutcome;
}
