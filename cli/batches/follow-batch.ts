import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type Batch, type EndedItem, RoutebookError } from '../client/index.ts';
import { formatSeconds } from '../format-seconds.ts';
import { awaitInterruption, type Interruption } from '../interruption.ts';
import { type Done, PATIENT, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Terminal } from '../terminal.ts';
import { unwritable } from '../write-file.ts';

/** The destination of results. */
export interface FollowTo {
    /** A file; stdout by default. */
    out?: string;
}

/** Checks that results can be written to a file, before the batch is created. @throws CommandFault FILE_UNWRITABLE */
export async function checkWritable(file: string): Promise<void> {
    try {
        // Appending keeps the content of the file if the server refuses the batch.
        await (await open(file, 'a')).close();
    } catch (error) {
        throw unwritable(file, error);
    }
}

/** Writes results to a file. Its functions throw CommandFault FILE_UNWRITABLE. */
function openResults(file: string) {
    const stream = createWriteStream(file);
    const ended = finished(stream);
    // `end` reports the error; until then it must not count as an unhandled rejection.
    ended.catch(() => undefined);
    return {
        write(item: EndedItem) {
            if (stream.errored !== null) throw unwritable(file, stream.errored);
            stream.write(`${JSON.stringify(item)}\n`);
        },
        async end() {
            stream.end();
            await ended.catch((error: unknown) => {
                throw unwritable(file, error);
            });
        },
    };
}

/** `routebook batch follow ID`. An unknown batch or a server that is away is reported at once, and the file keeps its content. */
export async function followKnownBatch(session: Session, batchId: string, options: FollowTo): Promise<Done> {
    await session.client().batches.get(batchId);
    return followBatch(session, batchId, options);
}

/** Writes a line for each ended item. Ctrl-C leaves the batch running and prints how to resume. */
export async function followBatch(
    session: Session,
    batchId: string,
    { out }: FollowTo,
    interruption: Interruption = awaitInterruption(),
): Promise<Done> {
    const { terminal, note } = session;
    const file = out === undefined ? undefined : openResults(out);
    const write = (item: EndedItem) => (file === undefined ? terminal.print(resultLine(item, terminal)) : file.write(item));
    const progress = terminal.progress(`batch ${batchId}`);
    const began = performance.now();
    let last: Batch | undefined;
    let first: number | undefined;
    const report = (batch: Batch) => {
        last = batch;
        first ??= endedOf(batch);
        progress.update(progressLine(batch, (endedOf(batch) - first) / ((performance.now() - began) / 1000)));
    };
    try {
        for await (const item of session.client(PATIENT).batches.follow(batchId, { onProgress: report, signal: interruption.signal }))
            write(item);
    } catch (error) {
        progress.end();
        const isOfServer = error instanceof RoutebookError && !error.retryable;
        if (!isOfServer) note(`The batch continues. Resume with: ${PROGRAM} batch follow ${batchId}`);
        if (!interruption.signal.aborted) throw error;
        return { result: { batch_id: batchId, interrupted: true }, isInterrupted: true };
    } finally {
        progress.end();
        interruption.end();
        await file?.end();
    }
    const batch = last ?? (await session.client().batches.get(batchId));
    note(summaryLine(batch));
    if (file === undefined && Number.isFinite(terminal.tableWidth)) note(`Save the results: ${PROGRAM} batch follow ${batchId} --out FILE`);
    if (batch.counts.failed > 0) note(`Retry failed items: ${PROGRAM} batch retry ${batchId}`);
    return { result: batch, isFailure: batch.status !== 'succeeded' };
}

/** A person gets what fits on one line of the terminal, a program all of it. */
export function resultLine(item: EndedItem, { tableWidth, paint }: Pick<Terminal, 'tableWidth' | 'paint'>): string {
    if (!Number.isFinite(tableWidth)) return JSON.stringify(item);
    const { custom_id: id, job_id: job, status, result, error } = item;
    const text = `${id ?? job}  ${result ? JSON.stringify(result.data) : (error?.code ?? status)}`;
    const mark = status === 'succeeded' ? paint('green', '✓') : paint('red', '✗');
    return `${mark} ${text.length > tableWidth - 2 ? `${text.slice(0, tableWidth - 3)}…` : text}`;
}

/** Whether the estimated time is meaningful. It includes rate limits, but no waits for a site, credits or storage. */
export function isTimeKnown({ eta_seconds: seconds, waiting_for: waiting }: Pick<Batch, 'eta_seconds' | 'waiting_for'>): boolean {
    return seconds !== null && (waiting === null || waiting === 'limits');
}

function endedOf({ counts }: Batch): number {
    return counts.total - counts.queued - counts.running;
}

/** `1,234 of 2,000 · 12 failed · 45/s · 17 s left` */
function progressLine(batch: Batch, rate: number): string {
    const { counts, waiting_for: waiting } = batch;
    const ended = endedOf(batch);
    const left = !isTimeKnown(batch) ? null : rate > 0 ? Math.ceil((counts.total - ended) / rate) : batch.eta_seconds;
    return [
        `${bar(ended / counts.total)} ${ended.toLocaleString('en')} of ${counts.total.toLocaleString('en')}`,
        ...(counts.failed > 0 ? [`${counts.failed.toLocaleString('en')} failed`] : []),
        ...(rate > 0 ? [`${rate.toFixed(rate < 10 ? 1 : 0)}/s`] : []),
        ...(left === null ? [] : [`${formatSeconds(left)} left`]),
        ...(waiting === null ? [] : [`waits for ${waiting}`]),
    ].join(' · ');
}

const BAR = 20;

function bar(share: number): string {
    const full = Math.round(share * BAR);
    return `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
}

function summaryLine({ batch_id: id, status, counts, credits }: Batch): string {
    const parts = (['succeeded', 'failed', 'cancelled', 'expired'] as const).filter((name) => counts[name] > 0);
    const summary = parts.map((name) => `${counts[name].toLocaleString('en')} ${name}`).join(', ');
    return `batch ${id} ${status}: ${summary}; ${credits.used.toLocaleString('en')} credit${credits.used === 1 ? '' : 's'} used`;
}
