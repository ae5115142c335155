import pino, { type Logger } from 'pino';

export type Log = Logger;

/**
 * One JSON line an event on stdout (or `destination`). Keys, params and upstream bodies are never given to it; the
 * redaction below is the second line of defence for headers that a library may hand over whole.
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
    const options: pino.LoggerOptions = {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        messageKey: 'message',
        formatters: { level: (label) => ({ level: label }) },
        redact: {
            paths: ['authorization', 'cookie', '*.authorization', '*.cookie', 'headers.authorization', 'headers.cookie'],
            censor: '[removed]',
        },
    };
    return destination ? pino(options, destination) : pino(options);
}
