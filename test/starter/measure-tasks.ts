import {
    CONTRIBUTED,
    LATER_CONTRIBUTED,
    type PlainTask,
    SERVED,
    UNSEEN,
    UNSEEN_CONTRIBUTED,
    UNSEEN_EVERYDAY,
    UNSERVED,
    type UnservedTask,
} from './tasks.ts';

/** Tasks for the starter registry and for packages of contributors: those that the ranking may be tuned on, and the others. */
type TaskList = 'tuned' | 'held out' | 'everyday, held out' | 'contributed' | 'contributed, held out';

const SERVED_BY: Readonly<Record<TaskList, readonly PlainTask[]>> = {
    tuned: SERVED.filter((task) => !task.held_out),
    'held out': [...SERVED.filter((task) => task.held_out), ...UNSEEN.served],
    'everyday, held out': UNSEEN_EVERYDAY.served,
    contributed: CONTRIBUTED.served,
    'contributed, held out': [...LATER_CONTRIBUTED.served, ...UNSEEN_CONTRIBUTED.served],
};
const UNSERVED_BY: Readonly<Record<TaskList, readonly UnservedTask[]>> = {
    tuned: UNSERVED,
    'held out': UNSEEN.unserved,
    'everyday, held out': UNSEEN_EVERYDAY.unserved,
    contributed: CONTRIBUTED.unserved,
    'contributed, held out': [...LATER_CONTRIBUTED.unserved, ...UNSEEN_CONTRIBUTED.unserved],
};

/** How often endpoints are found by their task. Each value is a share from 0 to 1. */
interface TaskMeasure {
    /** A matching endpoint comes first. */
    first: number;
    /** One is among the first five. */
    firstFive: number;
    /** Tasks whose endpoint is not among the first five, with what came first. */
    missed: string[];
}

/** Searches for one task, and returns the list as `site/endpoint`. */
export type AskForTask = (task: string) => Promise<readonly string[]>;

export async function measureServed(ask: AskForTask, which: TaskList): Promise<TaskMeasure> {
    const tasks = SERVED_BY[which];
    const places: { task: PlainTask; place: number; best: string }[] = [];
    for (const task of tasks) {
        const found = await ask(task.task);
        places.push({ task, place: found.findIndex((name) => task.right.includes(name)), best: found[0] ?? 'nothing' });
    }
    const isNear = (place: number) => place >= 0 && place < 5;
    return {
        first: places.filter(({ place }) => place === 0).length / tasks.length,
        firstFive: places.filter(({ place }) => isNear(place)).length / tasks.length,
        missed: places.filter(({ place }) => !isNear(place)).map(({ task, best }) => `${task.task} → ${best}`),
    };
}

/** The share of unserved tasks for which nothing is listed, and the others with their lists. */
export async function measureUnserved(ask: AskForTask, which: TaskList = 'tuned'): Promise<{ empty: number; listed: string[] }> {
    const listed: string[] = [];
    const tasks = UNSERVED_BY[which];
    for (const { task } of tasks) {
        const found = await ask(task);
        if (found.length > 0) listed.push(`${task} → ${found[0]}`);
    }
    return { empty: 1 - listed.length / tasks.length, listed };
}
