/** The part of a logger that connections report to. */
export interface OutageLog {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
}

/** What one connection says about itself: an outage is one line when it begins and one when it ends, not one for each attempt. */
export interface Outage {
    /** Call with every error of the connection. */
    down(error: unknown): void;
    /** Call whenever the connection is usable again. */
    up(): void;
}

/** @param part what the log calls the connection, e.g. `redis replies` */
export function watchOutage(log: OutageLog, part: string): Outage {
    let since: number | undefined;
    return {
        down(error) {
            if (since !== undefined) return;
            since = performance.now();
            log.warn({ part, err: error }, `${part}: connection lost, trying again until it is back`);
        },
        up() {
            if (since === undefined) return;
            log.info({ part, outage_ms: Math.round(performance.now() - since) }, `${part}: connection is back`);
            since = undefined;
        },
    };
}
