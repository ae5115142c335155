/** Rows in one statement. */
const CHUNK = 1000;

export interface BatchWriter<Row> {
    /** Takes a row along; never waits and never fails. Rows past the bound are lost, the oldest first. */
    record(row: Row): void;
    /** Writes what has been recorded so far; never fails. */
    flush(): Promise<void>;
    /** Writes the rest and stops. */
    close(): Promise<void>;
}

export interface BatchWriterOptions<Row> {
    write(rows: Row[]): Promise<void>;
    /** How long a row waits at most, in milliseconds. */
    everyMs: number;
    /** Rows kept in memory while the database does not take them. */
    maxRows: number;
    /** Told once for every write that failed. */
    onError?: ((error: unknown) => void) | undefined;
}

/**
 * Gathers rows that are not money and writes them together. A write that fails is tried again with the next one, unless
 * the rows themselves are at fault (SQLSTATE classes 22 and 23), which trying again does not mend.
 */
export function openBatchWriter<Row>({ write, everyMs, maxRows, onError }: BatchWriterOptions<Row>): BatchWriter<Row> {
    let waiting: Row[] = [];
    let timer: NodeJS.Timeout | undefined;
    let writing: Promise<void> = Promise.resolve();

    function schedule(): void {
        if (timer !== undefined || waiting.length === 0) return;
        timer = setTimeout(() => void flush(), everyMs);
        timer.unref();
    }

    function flush(): Promise<void> {
        clearTimeout(timer);
        timer = undefined;
        writing = writing.then(writeAll);
        return writing;
    }

    async function writeAll(): Promise<void> {
        const rows = waiting;
        waiting = [];
        for (let from = 0; from < rows.length; from += CHUNK) {
            try {
                await write(rows.slice(from, from + CHUNK));
            } catch (error) {
                onError?.(error);
                const rest = rows.slice(isRowsFault(error) ? from + CHUNK : from);
                waiting = rest.concat(waiting).slice(-maxRows);
                schedule();
                return;
            }
        }
    }

    return {
        record(row) {
            waiting.push(row);
            // Twice the bound, so that cutting happens once in maxRows rows and not at each.
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

function isRowsFault(error: unknown): boolean {
    return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]/.test(error.code);
}
