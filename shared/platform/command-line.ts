import { type CommanderError, InvalidArgumentError } from 'commander';
import { readBlockedPath, readTimes, type Times } from '../domain/site/policy-flags.ts';
import { type BlockedPath, MAX_REQUESTS_PER_MINUTE } from '../domain/site/site-policy.ts';

/** The exit code of a commander error. Requested help is not an error. Commander has already printed the message. */
export function usageExit({ exitCode, code, message }: CommanderError, isJson: boolean, terminal: { print(line: string): void }): number {
    if (exitCode === 0) return 0;
    const text = code === 'commander.help' ? 'a command is missing' : message.replace(/^error: /, '');
    if (isJson) terminal.print(JSON.stringify({ error: { code: 'WRONG_USAGE', message: text } }));
    return 2;
}

export function wholeNumber(min: number, max: number): (text: string) => number {
    return (text) => {
        const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
        if (value >= min && value <= max) return value;
        throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    };
}

export function readPace(text: string): number | 'none' {
    return text === 'none' ? text : wholeNumber(1, MAX_REQUESTS_PER_MINUTE)(text);
}

export function readHours(text: string): Times {
    const times = readTimes(text);
    if (times !== undefined) return times;
    throw new InvalidArgumentError('It must be two different times of day, such as 22:00-06:00.');
}

/** Reads a `--block-path` or `--unblock-path` and adds it to the earlier ones. */
export function collectPaths(text: string, before: readonly BlockedPath[] = []): BlockedPath[] {
    const path = readBlockedPath(text);
    if (path !== undefined) return [...before, path];
    throw new InvalidArgumentError('It must be a host and the beginning of a path, such as www.shop.example/admin.');
}
