import { type Child, type Done, type Order, startChild } from './child-reader.ts';
import { createTurns, type Work } from './turns.ts';

/** Runs tasks in child processes, one at a time each, and kills tasks that take too much time or memory. */
export interface ProcessPool {
    /**
     * Runs a task. `overrun`: the process was killed. `late`: the task did not begin in time. Rejects only when the pool is closed, or
     * on a bug.
     */
    run(job: Order & Work & { beginBy?: number | undefined }): Promise<Exclude<Done, Error> | 'late'>;
    /** Starts a process of this kind if there is none, for the first task. */
    warm(kind: string): void;
    close(): Promise<void>;
}

type Job = Order &
    Work & { done(answer: Exclude<Done, Error> | 'late'): void; fail(error: Error): void; timer: NodeJS.Timeout | undefined };

interface Seat {
    kind: string;
    child: Child;
    job: Job | undefined;
}

/** Opens a pool. Processes start when there is work for them, and stay. @param max processes of each kind */
export function openProcessPool(files: ReadonlyMap<string, URL>, { max }: { max: number }): ProcessPool {
    const seats = new Set<Seat>();
    const turns = createTurns<Job>();
    const ends: (() => void)[] = [];
    let isClosed = false;

    function dispatch(): void {
        if (isClosed) return;
        for (const seat of seats) if (seat.job === undefined && seat.child.isReady()) begin(seat);
        for (const kind of files.keys()) {
            const ofKind = [...seats].filter((seat) => seat.kind === kind);
            const starting = ofKind.filter(({ job, child }) => job === undefined && !child.isReady()).length;
            if (turns.ready(kind) > starting && ofKind.length < max) start(kind);
        }
    }

    function begin(seat: Seat): void {
        const job = turns.begin(seat.kind);
        if (job === undefined) return;
        clearTimeout(job.timer);
        seat.job = job;
        void seat.child.run(job).then((answer) => {
            seat.job = undefined;
            turns.ended(job);
            if (answer instanceof Error) job.fail(answer);
            else job.done(answer);
            dispatch();
        });
    }

    function start(kind: string): void {
        const file = files.get(kind);
        if (file === undefined) throw new Error(`no process is of the kind ${kind}`);
        const child = startChild(file, {
            changed: dispatch,
            ended(error) {
                seats.delete(seat);
                if (seats.size === 0) for (const end of ends.splice(0)) end();
                if (isClosed) return;
                if (error !== undefined) failOne(kind, error);
                // Replaces the process before the next task needs one.
                else if (![...seats].some((other) => other.kind === kind)) start(kind);
                dispatch();
            },
        });
        const seat: Seat = { kind, child, job: undefined };
        seats.add(seat);
    }

    /** Rejects a task of a kind whose process did not start. */
    function failOne(kind: string, error: Error): void {
        const job = turns.begin(kind);
        if (job === undefined) return;
        turns.ended(job);
        clearTimeout(job.timer);
        job.fail(error);
    }

    return {
        run({ beginBy, ...job }) {
            if (isClosed) return Promise.reject(new Error('the pool is closed'));
            return new Promise((done, fail) => {
                const waiting: Job = { ...job, done, fail, timer: undefined };
                if (beginBy !== undefined) {
                    const giveUp = () => turns.remove(waiting) && done('late');
                    waiting.timer = setTimeout(giveUp, Math.max(0, beginBy - Date.now()));
                }
                turns.add(waiting);
                dispatch();
            });
        },
        warm(kind) {
            if (!isClosed && ![...seats].some((seat) => seat.kind === kind)) start(kind);
        },
        async close() {
            isClosed = true;
            const closed = new Error('the pool is closed');
            for (const { timer, fail } of turns.clear()) {
                clearTimeout(timer);
                fail(closed);
            }
            const gone = seats.size === 0 ? undefined : new Promise<void>((end) => void ends.push(end));
            for (const { child, job } of seats) {
                job?.fail(closed);
                child.kill();
            }
            await gone;
        },
    };
}
