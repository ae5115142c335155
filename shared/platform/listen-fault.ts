import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigFault } from './settings-reader.ts';

/** The setting that defines the port of a server, the port, and the host; without a host, the server listens on all interfaces. */
interface Place {
    name: 'PORT' | 'METRICS_PORT';
    port: number;
    host?: string | undefined;
}

/** Ports that every user may listen on. */
const USUAL = { PORT: 8080, METRICS_PORT: 9464 } as const;
/** Error codes for addresses and names that this machine does not have. */
const NOT_HERE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];
/** Number of higher ports that are tried after a taken one. */
const TRIED = 100;

/** Converts an error of `listen` into one that names the setting to change and a free port. Returns all other errors unchanged. */
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

/** Checks that a process can listen, before it starts what takes longer. @throws ConfigFault */
export async function checkPort(place: Place): Promise<void> {
    await tryToListen(place).catch(async (error: unknown) => {
        throw await listenFault(error, place);
    });
}

/** The next higher port that is free, where the following port is free too, because `npm start` uses that one for the demo shop. */
async function freePortAbove({ name, port, host }: Place): Promise<number> {
    let isBeforeFree = false;
    for (let tried = port + 1; tried <= Math.min(port + TRIED, 65_535); tried++) {
        const isOneFree = await isFree(tried, host);
        if (isBeforeFree && isOneFree) return tried - 1;
        isBeforeFree = isOneFree;
    }
    return USUAL[name];
}

function isFree(port: number, host: string | undefined): Promise<boolean> {
    return tryToListen({ port, host }).then(
        () => true,
        () => false,
    );
}

async function tryToListen({ port, host }: Pick<Place, 'port' | 'host'>): Promise<void> {
    const server = createServer().listen({ port, host, exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
}
