export interface ConnectionLog {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
}

/** Logs changes in the status of a connection or operation: one line when an outage begins, and one when it ends. */
export interface ConnectionStatus {
    down(error: unknown): void;
    up(): void;
}

/** Creates the status log of a connection. @param part its name in the log, for example `redis replies` */
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
            // At the same level, so that a reader of warnings learns of the end too.
            log.warn({ part, outage_ms: Math.round(performance.now() - since) }, `${part}: works again`);
            since = undefined;
        },
    };
}
