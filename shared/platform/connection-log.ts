/** The methods of a logger that connections use. */
export interface ConnectionLog {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
}

/** Reports the status of a connection or operation. An outage logs one line at its beginning and one at its end, not one for each attempt. */
export interface ConnectionStatus {
    /** Call with every error. */
    down(error: unknown): void;
    /** Call whenever it works. */
    up(): void;
}

/** Creates the connection log of a part. @param part name of the connection in the log, e.g. `redis replies` */
export function watchConnection(log: ConnectionLog, part: string): ConnectionStatus {
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
