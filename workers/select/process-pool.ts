import { type Child, type Done, type Order, startChild } from './child-process.ts';

/** A task, its owner and caller, and its possible cost. */
interface Work extends Order {
    kind: string;
    owner: string;
    /** Whose turn it uses. */
    caller: string;
    /** Whether a contributor controls its cost. Each owner, and each caller beside others, has one heavy task at a time. */
    isHeavy: boolean;
    /** Milliseconds since the epoch; absent: no limit. */
    beginBy?: number | undefined;
}

/** Runs tasks in child processes, one at a time each, and kills tasks that take too much time or memory. */
export interface ProcessPool {
    /** Runs a task. `overrun`: it was killed. `late`: it did not begin in time. Rejects only on a bug, or when the pool is closed. */
    run(work: Work): Promise<Exclude<Done, Error> | 'late'>;
    close(): Promise<void>;
}

interface Job extends Work {
    done(answer: Done | 'late'): void;
    timer: NodeJS.Timeout | undefined;
}

/** A caller is alone if no other one came for this time. */
const ALONE_MS = 10_000;

interface Slot {
    kind: string;
    child: Child;
    job: Job | undefined;
}

/**
 * Opens a pool. Processes start when there is work for them, and keep running. Callers take turns, each with its oldest task.
 * @param kinds arguments of the program by kind
 * @param max processes of each kind
 */
export function openProcessPool(program: URL, kinds: ReadonlyMap<string, readonly string[]>, { max }: { max: number }): ProcessPool {
    const slots = new Set<Slot>();
    /** Waiting jobs by caller; the next caller comes first. */
    const waiting = new Map<string, Job[]>();
    /** Owners and callers of running heavy tasks. */
    const heavy = new Set<string>();
    /** When the last job came of another caller than the one before. */
    let mixedAt = Number.NEGATIVE_INFINITY;
    let lastCaller: string | undefined;
    const closed = Promise.withResolvers<void>();
    let isClosed = false;

    const ofKind = (kind: string) => [...slots].filter((slot) => slot.kind === kind);

    /** The names that a task uses up while it runs. */
    function namesOf({ isHeavy, owner, caller }: Job): string[] {
        if (!isHeavy) return [];
        const isAlone = performance.now() - mixedAt > ALONE_MS;
        return isAlone ? [`owner ${owner}`] : [`owner ${owner}`, `caller ${caller}`];
    }

    function next(kind: string): Job | undefined {
        for (const jobs of waiting.values()) {
            const job = jobs.find((one) => one.kind === kind && !namesOf(one).some((name) => heavy.has(name)));
            if (job !== undefined) return job;
        }
        return undefined;
    }

    /** @param isTurn whether the caller has had its turn and moves behind the other callers */
    function remove(job: Job, { isTurn = false } = {}): void {
        clearTimeout(job.timer);
        const others = (waiting.get(job.caller) ?? []).filter((one) => one !== job);
        if (isTurn || others.length === 0) waiting.delete(job.caller);
        if (others.length > 0) waiting.set(job.caller, others);
    }

    function dispatch(): void {
        if (isClosed) return;
        for (const slot of slots) {
            const job = slot.job === undefined && slot.child.isReady() ? next(slot.kind) : undefined;
            if (job !== undefined) void begin(slot, job);
        }
        for (const kind of kinds.keys()) {
            const starting = ofKind(kind).some(({ job, child }) => job === undefined && !child.isReady());
            if (!starting && ofKind(kind).length < max && next(kind) !== undefined) start(kind);
        }
    }

    async function begin(slot: Slot, job: Job): Promise<void> {
        remove(job, { isTurn: true });
        const names = namesOf(job);
        for (const name of names) heavy.add(name);
        slot.job = job;
        const answer = await slot.child.run(job);
        slot.job = undefined;
        for (const name of names) heavy.delete(name);
        job.done(answer);
        dispatch();
    }

    function start(kind: string): void {
        const child = startChild(program, kinds.get(kind) ?? [], {
            changed: dispatch,
            ended(error) {
                slots.delete(slot);
                if (isClosed && slots.size === 0) closed.resolve();
                if (isClosed) return;
                const job = error === undefined ? undefined : next(kind);
                if (error !== undefined && job !== undefined) {
                    remove(job);
                    job.done(error);
                }
                // Replaces the process before the next task needs one.
                if (error === undefined && ofKind(kind).length === 0) start(kind);
                dispatch();
            },
        });
        const slot: Slot = { kind, child, job: undefined };
        slots.add(slot);
    }

    return {
        run(work) {
            if (isClosed) return Promise.reject(new Error('the pool is closed'));
            return new Promise((resolve, reject) => {
                const done = (answer: Done | 'late') => (answer instanceof Error ? reject(answer) : resolve(answer));
                const job: Job = { ...work, done, timer: undefined };
                if (work.beginBy !== undefined) {
                    const giveUp = () => {
                        remove(job);
                        done('late');
                    };
                    job.timer = setTimeout(giveUp, Math.max(0, work.beginBy - Date.now()));
                }
                if (lastCaller !== undefined && lastCaller !== job.caller) mixedAt = performance.now();
                lastCaller = job.caller;
                waiting.set(job.caller, [...(waiting.get(job.caller) ?? []), job]);
                dispatch();
            });
        },
        async close() {
            isClosed = true;
            const jobs = [...waiting.values()].flat();
            for (const job of jobs) remove(job);
            for (const { job } of slots) if (job !== undefined) jobs.push(job);
            for (const job of jobs) job.done(new Error('the pool is closed'));
            for (const { child } of slots) child.kill();
            if (slots.size > 0) await closed.promise;
        },
    };
}
