import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigFault } from './settings-reader.ts';

/** Which setting a server's port comes from, what it is, and where it listens; without a host on every interface. */
export interface Place {
    name: 'PORT' | 'METRICS_PORT';
    port: number;
    host?: string | undefined;
}

/** Ports that every user may listen on. */
const USUAL = { PORT: 8080, METRICS_PORT: 9464 } as const;
/** Codes of the addresses and names that this machine does not have. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];
/** How many ports above a taken one are tried. */
const TRIED = 100;

/**
 * Turns an error of `listen` into one that names the setting to change, with a free port; other errors come
 * back as it is.
 */
export async function listenFault(error: unknown, place: Place): Promise<unknown> {
    const { name, port } = place;
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') return new ConfigFault([`${name}: ${port} is taken; for example ${name}=${await freePortAbove(place)}`]);
    if (code === 'EACCES') return new ConfigFault([`${name}: this user may not listen on ${port}; for example ${name}=${USUAL[name]}`]);
    if (syscall === 'getaddrinfo' || NOT_HERE.includes(code)) {
        return new ConfigFault([`HOST: must be a name or an address of this machine (${code}); for example HOST=127.0.0.1`]);
    }
    return error;
}

/** The first port above that is free, and the one behind it too, where `npm start` has the demo shop. */
async function freePortAbove({ name, port, host }: Place): Promise<number> {
    let isBeforeFree = false;
    for (let tried = port + 1; tried <= Math.min(port + TRIED, 65_535); tried++) {
        const isOneFree = await isFree(tried, host);
        if (isBeforeFree && isOneFree) return tried - 1;
        isBeforeFree = isOneFree;
    }
    return USUAL[name];
}

async function isFree(port: number, host: string | undefined): Promise<boolean> {
    const server = createServer().listen({ port, host, exclusive: true });
    try {
        await once(server, 'listening');
    } catch {
        return false;
    }
    server.close();
    await once(server, 'close');
    return true;
}
