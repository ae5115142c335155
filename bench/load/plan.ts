/** What a load process does; it crosses to it as JSON. Times are milliseconds. */
export interface LoadPlan {
    url: string;
    headers: Record<string, string>;
    /** Each request says that it was forwarded for another client, which an API with TRUST_PROXY believes. */
    fromManyClients?: boolean;
    /** Sent in turn. Without any the calls are GETs. */
    bodies: string[];
    /** A file with a path a line: GETs of these, in turn, instead of the one in `url`. */
    pathsFile?: string;
    /** Closed loop: so many at once, the next one when one has ended. Open loop: so many a second, whatever the answers do. */
    pace: { inFlight: number } | { perSecond: number };
    /** Opened and used once before an open loop begins, as a proxy has them; without it each comes with a call that finds none free. */
    connections?: number;
    /** Calls before the measured ones, for warm code and connections. */
    warmupMs: number;
    measuredMs: number;
    /** The figures come with every time, for anyone who puts several loads together. */
    tellsTimes?: boolean;
}

/** What came back. An open loop counts a call's time from the moment it was due. */
export interface LoadFigures {
    perSecond: number;
    count: number;
    /** Answers other than 200, and broken connections. */
    failed: number;
    p50: number;
    p90: number;
    p99: number;
    max: number;
    /** Where the plan wants them, in order of size. */
    times?: number[];
    /** Status of the first failed call, 0 for a broken connection, and what it said. */
    firstFailure?: string;
}

/** Said when the measured time begins and when it ends. */
export const BEGIN = 'load begins';
export const END = 'load ended';

/** The figures of times in milliseconds, in any order; sorts them. */
export function figuresOf(times: number[], failed: number, seconds: number): LoadFigures {
    times.sort((one, other) => one - other);
    const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
    return { perSecond: times.length / seconds, count: times.length, failed, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
