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

export type ProcessPool = ReturnType<typeof openProcessPool>;

interface Job extends Work {
    done(answer: Done | 'late'): void;
    timer: NodeJS.Timeout | undefined;
}

interface Slot {
    kind: string;
    child: Child;
    job: Job | undefined;
}

/**
 * Opens a pool of child processes, which run one task at a time each and are killed if it takes too much time or memory. Processes start
 * when there is work for them, and keep running.
 * @param kinds arguments of the program by kind
 * @param max processes of each kind
 */
export function openProcessPool(program: URL, kinds: ReadonlyMap<string, readonly string[]>, { max }: { max: number }) {
    const slots = new Set<Slot>();
    /** The kinds of which a process was killed. */
    const killed = new Set<string>();
    const line = createLine();
    const closed = Promise.withResolvers<void>();
    let isClosed = false;

    const ofKind = (kind: string) => [...slots].filter((slot) => slot.kind === kind);

    function dispatch(): void {
        if (isClosed) return;
        for (const slot of slots) {
            const job = slot.job === undefined && slot.child.isReady() ? line.next(slot.kind) : undefined;
            if (job !== undefined) void begin(slot, job);
        }
        for (const kind of kinds.keys()) {
            const starting = ofKind(kind).some(({ job, child }) => job === undefined && !child.isReady());
            if (!starting && ofKind(kind).length < max && line.next(kind) !== undefined) start(kind);
        }
    }

    async function begin(slot: Slot, job: Job): Promise<void> {
        const names = line.begin(job);
        slot.job = job;
        const answer = await slot.child.run(job);
        slot.job = undefined;
        line.end(names);
        job.done(answer);
        dispatch();
    }

    function start(kind: string): void {
        const child = startChild(program, kinds.get(kind) ?? [], {
            isReplacement: killed.has(kind),
            changed: dispatch,
            ended(error) {
                slots.delete(slot);
                if (isClosed && slots.size === 0) closed.resolve();
                if (isClosed) return;
                const job = error === undefined ? undefined : line.next(kind);
                if (error !== undefined && job !== undefined) {
                    line.leave(job);
                    job.done(error);
                }
                if (error === undefined) killed.add(kind);
                // Replaces the process before the next task needs one.
                if (error === undefined && ofKind(kind).length === 0) start(kind);
                dispatch();
            },
        });
        const slot: Slot = { kind, child, job: undefined };
        slots.add(slot);
    }

    return {
        /** Runs a task. `overrun`: it was killed. `late`: it did not begin in time. Rejects only on a bug, or when the pool is closed. */
        run(work: Work): Promise<Exclude<Done, Error> | 'late'> {
            if (isClosed) return Promise.reject(new Error('the pool is closed'));
            return new Promise((resolve, reject) => {
                const done = (answer: Done | 'late') => (answer instanceof Error ? reject(answer) : resolve(answer));
                const job: Job = { ...work, done, timer: undefined };
                if (work.beginBy !== undefined) {
                    const giveUp = () => {
                        line.leave(job);
                        done('late');
                    };
                    job.timer = setTimeout(giveUp, Math.max(0, work.beginBy - Date.now()));
                }
                line.enter(job);
                dispatch();
            });
        },
        async close(): Promise<void> {
            isClosed = true;
            const jobs = line.all();
            for (const job of jobs) line.leave(job);
            for (const { job } of slots) if (job !== undefined) jobs.push(job);
            for (const job of jobs) job.done(new Error('the pool is closed'));
            for (const { child } of slots) child.kill();
            if (slots.size > 0) await closed.promise;
        },
    };
}

/** A caller is alone if no other one came for this time. */
const ALONE_MS = 10_000;

/** Creates the line of waiting jobs. Callers take turns, each with its oldest job. */
function createLine() {
    /** By caller; the next caller comes first. */
    const waiting = new Map<string, Job[]>();
    /** Owners and callers of running heavy tasks. */
    const heavy = new Set<string>();
    /** When the last job came of another caller than the one before. */
    let mixedAt = Number.NEGATIVE_INFINITY;
    let lastCaller: string | undefined;

    /** The names that a task uses up while it runs. */
    function namesOf({ isHeavy, owner, caller }: Job): string[] {
        if (!isHeavy) return [];
        const isAlone = performance.now() - mixedAt > ALONE_MS;
        return isAlone ? [`owner ${owner}`] : [`owner ${owner}`, `caller ${caller}`];
    }

    /** @param isTurn whether the caller has had its turn and moves behind the other callers */
    function remove(job: Job, isTurn: boolean): void {
        clearTimeout(job.timer);
        const others = (waiting.get(job.caller) ?? []).filter((one) => one !== job);
        if (isTurn || others.length === 0) waiting.delete(job.caller);
        if (others.length > 0) waiting.set(job.caller, others);
    }

    return {
        enter(job: Job): void {
            if (lastCaller !== undefined && lastCaller !== job.caller) mixedAt = performance.now();
            lastCaller = job.caller;
            waiting.set(job.caller, [...(waiting.get(job.caller) ?? []), job]);
        },
        /** The next job of a kind that no running heavy task excludes. */
        next(kind: string): Job | undefined {
            for (const jobs of waiting.values()) {
                const job = jobs.find((one) => one.kind === kind && !namesOf(one).some((name) => heavy.has(name)));
                if (job !== undefined) return job;
            }
            return undefined;
        },
        /** @returns the names that the job uses up until `end` */
        begin(job: Job): string[] {
            remove(job, true);
            const names = namesOf(job);
            for (const name of names) heavy.add(name);
            return names;
        },
        end(names: readonly string[]): void {
            for (const name of names) heavy.delete(name);
        },
        leave: (job: Job) => remove(job, false),
        all: (): Job[] => [...waiting.values()].flat(),
    };
}
