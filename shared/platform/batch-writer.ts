import { codeOfError } from './error-code.ts';
import { createSerialRuns } from './serial-runs.ts';

/** Maximum number of rows in one statement. */
const CHUNK = 1000;

export interface BatchWriter<Row> {
    /** Adds a row. Never waits and never fails. Beyond the limit, the oldest rows are dropped. */
    record(row: Row): void;
    /** Writes all rows so far. Never fails. */
    flush(): Promise<void>;
    /** Writes the remaining rows and stops. */
    close(): Promise<void>;
}

interface BatchWriterOptions<Row> {
    write(rows: Row[]): Promise<void>;
    /** Maximum wait of a row. */
    everyMs: number;
    /** Maximum number of rows in memory while the database is unreachable. */
    maxRows: number;
    /** Runs once for each failed write. */
    onError?: ((error: unknown) => void) | undefined;
}

/**
 * Opens a writer that batches rows. Not for credits, since rows may be lost. A failed write is retried with the next one. If a row itself
 * is at fault (SQLSTATE classes 22, 23 and 54), a binary search finds it, and only this row is dropped.
 */
export function openBatchWriter<Row>({ write, everyMs, maxRows, onError }: BatchWriterOptions<Row>): BatchWriter<Row> {
    let waiting: Row[] = [];
    let timer: NodeJS.Timeout | undefined;
    const writes = createSerialRuns(writeAll);

    function schedule(): void {
        if (timer !== undefined || waiting.length === 0) return;
        timer = setTimeout(() => void flush(), everyMs);
        timer.unref();
    }

    function flush(): Promise<void> {
        clearTimeout(timer);
        timer = undefined;
        return writes.now();
    }

    async function writeAll(): Promise<void> {
        const parts: Row[][] = [];
        for (let from = 0; from < waiting.length; from += CHUNK) parts.push(waiting.slice(from, from + CHUNK));
        waiting = [];
        for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
            try {
                await write(part);
            } catch (error) {
                const half = part.length >> 1;
                if (isBadRow(error) && half > 0) {
                    parts.unshift(part.slice(0, half), part.slice(half));
                    continue;
                }
                onError?.(error);
                if (isBadRow(error)) continue;
                waiting = [part, ...parts].flat().concat(waiting).slice(-maxRows);
                schedule();
                return;
            }
        }
    }

    return {
        record(row) {
            waiting.push(row);
            // Cuts only at twice the limit, so that a cut happens once in maxRows rows instead of for each row.
            if (waiting.length > 2 * maxRows) waiting = waiting.slice(-maxRows);
            schedule();
        },
        flush,
        async close() {
            await flush();
            clearTimeout(timer);
        },
    };
}

function isBadRow(error: unknown): boolean {
    return /^(22|23|54)/.test(codeOfError(error));
}
