import pino, { type Logger } from 'pino';

export type Log = Logger;

/**
 * Creates a log with one JSON line per event on stdout (or `destination`). Callers never log keys, params and upstream bodies. The
 * redaction below also covers headers that a library may log as a whole.
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
    const options: pino.LoggerOptions = {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        messageKey: 'message',
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: serializeError },
        redact: {
            paths: ['authorization', 'cookie', '*.authorization', '*.cookie', 'headers.authorization', 'headers.cookie'],
            censor: '[removed]',
        },
    };
    return destination ? pino(options, destination) : pino(options);
}

/** Replaces knex's message, which suspects a missing transaction argument if PostgreSQL is unreachable, slow or busy. */
const NO_CONNECTION = 'no connection to PostgreSQL within the time: it does not answer, or all connections of this pool are in use';

function serializeError(error: Error): pino.SerializedError {
    const serialized = pino.stdSerializers.err(error);
    return error instanceof Error && error.name === 'KnexTimeoutError' ? { ...serialized, message: NO_CONNECTION } : serialized;
}
