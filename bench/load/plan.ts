/** The plan of a load process, passed to it as JSON. Times are in milliseconds. */
export interface LoadPlan {
    url: string;
    headers: Record<string, string>;
    /** Each request has a different forwarded client address, which an API with TRUST_PROXY believes. */
    fromManyClients?: boolean;
    /** Bodies that are sent in turn. If empty, the calls are GETs. */
    bodies: string[];
    /** A file with one path per line. The calls are GETs of these in turn, instead of the path in `url`. */
    pathsFile?: string;
    /**
     * Closed loop: this many concurrent calls; when one ends, the next starts. Open loop: this many calls a second, independent of the
     * answers.
     */
    pace: { inFlight: number } | { perSecond: number };
    /**
     * Connections that are opened and used once before an open loop begins, like those of a proxy. Without them, each call that finds no
     * free connection opens one.
     */
    connections?: number;
    /** Duration of the calls before the measurement, to warm up code and connections. */
    warmupMs: number;
    measuredMs: number;
    /** Include the duration of each call, so that several loads can be combined. */
    tellsTimes?: boolean;
}

/** The results. In an open loop, the duration of a call counts from the moment when it was due. */
export interface LoadFigures {
    perSecond: number;
    count: number;
    /** Answers other than 200, and broken connections. */
    failed: number;
    p50: number;
    p90: number;
    p99: number;
    max: number;
    /** The sorted durations, if the plan wants them. */
    times?: number[];
    /** Status of the first failed call (0 for a broken connection), and a part of its answer. */
    firstFailure?: string;
}

/** Printed when the measurement begins and when it ends. */
export const BEGIN = 'load begins';
export const END = 'load ended';

/** Computes the figures of unsorted times in milliseconds. Sorts the array. */
export function figuresOf(times: number[], failed: number, seconds: number): LoadFigures {
    times.sort((one, other) => one - other);
    const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
    return { perSecond: times.length / seconds, count: times.length, failed, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
