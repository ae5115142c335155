import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';

/**
 * Ensures that the suite runs without the internet. A connection or a DNS query that leaves this machine fails the run, with the place in
 * the code that sent it. Loaded before every spec (.mocharc.json). Processes that a spec starts have their own settings.
 */
const left: Error[] = [];

const connect = Socket.prototype.connect;
Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
    const host = hostOf(given);
    if (host !== undefined && !isHere(host)) refuse(`a socket to ${host}`);
    return Reflect.apply(connect, this, given);
};

const lookups = [dns, dns.promises] as unknown as Record<string, (...given: unknown[]) => unknown>[];
for (const names of lookups) {
    for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveAny']) {
        const ask = names[name];
        if (ask === undefined) continue;
        names[name] = (host: unknown, ...rest: unknown[]) => {
            if (typeof host === 'string' && !isHere(host)) refuse(`a question for ${host}`);
            return Reflect.apply(ask, names, [host, ...rest]);
        };
    }
}

// Updates modules that import these functions by name.
syncBuiltinESMExports();

export const mochaHooks = {
    afterAll() {
        if (left.length > 0) throw new AggregateError(left, `${left.length} attempts to leave this machine, the first: ${left[0]?.stack}`);
    },
};

function refuse(what: string): never {
    const error = new Error(`the suite tried to leave this machine: ${what}`);
    left.push(error);
    throw error;
}

/** The host given to net.Socket#connect; undefined for a unix socket. Node sometimes passes the arguments as one normalised array. */
function hostOf(given: readonly unknown[]): string | undefined {
    const [first, second] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given;
    if (typeof first === 'object' && first !== null) {
        const { path, host } = first as { path?: unknown; host?: unknown };
        if (typeof path === 'string') return undefined;
        return typeof host === 'string' ? host : 'localhost';
    }
    if (typeof first === 'string' && Number.isNaN(Number(first))) return undefined;
    return typeof second === 'string' ? second : 'localhost';
}

function isHere(host: string): boolean {
    const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
    if (isIP(bare) === 0) return bare === 'localhost' || bare === '';
    return bare === '::1' || bare === '0.0.0.0' || bare === '::' || /^(::ffff:)?127\./.test(bare);
}
