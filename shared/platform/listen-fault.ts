import { ConfigFault } from './config.ts';

/** Which setting a server's port comes from, and what it is. */
export interface Place {
    name: 'PORT' | 'METRICS_PORT';
    port: number;
}

/** Ports that every user may listen on. */
const USUAL = { PORT: 8080, METRICS_PORT: 9464 } as const;
/** Codes of the addresses and names that this machine does not have. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** What kept a server from listening, in the words of the setting that a person can change; anything else comes back as it is. */
export function listenFault(error: unknown, { name, port }: Place): unknown {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
        return new ConfigFault([`${name}: ${port} is taken; for example ${name}=${port < 65_535 ? port + 1 : USUAL[name]}`]);
    if (code === 'EACCES') return new ConfigFault([`${name}: this user may not listen on ${port}; for example ${name}=${USUAL[name]}`]);
    if (syscall === 'getaddrinfo' || NOT_HERE.includes(code)) {
        return new ConfigFault([`HOST: must be a name or an address of this machine (${code}); for example HOST=127.0.0.1`]);
    }
    return error;
}
