/** The part of a logger that connections report to. */
export interface OutageLog {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
}

/** What one connection or operation says about itself: an outage is one line when it begins and one when it ends, not one an attempt. */
export interface Outage {
    /** Call with every error. */
    down(error: unknown): void;
    /** Call whenever it works. */
    up(): void;
}

/** @param part what the log calls the connection, e.g. `redis replies` */
export function watchOutage(log: OutageLog, part: string): Outage {
    let since: number | undefined;
    return {
        down(error) {
            if (since !== undefined) return;
            since = performance.now();
            log.warn({ part, err: error }, `${part}: does not work at the moment`);
        },
        up() {
            if (since === undefined) return;
            log.info({ part, outage_ms: Math.round(performance.now() - since) }, `${part}: works again`);
            since = undefined;
        },
    };
}
