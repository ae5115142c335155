import type { AgentOptions, ClientRequest, ClientRequestArgs } from 'node:http';
import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EgressConnector } from './connector.ts';
import type { Scheme } from './rules.ts';

/** Connections that wait for their next request, in milliseconds; below the 5 s after which Node's own servers close them. */
const IDLE = 4000;

const POOLED: AgentOptions = { keepAlive: true, maxSockets: 256, maxTotalSockets: 2048, maxFreeSockets: 64, scheduling: 'lifo' };

/** Runs between "connected" and the first byte; a throw closes the connection and nothing is sent. */
export type HandOver = () => Promise<void>;

/**
 * Where Node's HTTP client gets its connections from: the guard's connector and nowhere else. One class for both schemes, since the
 * connector brings TLS: connections are shared by scheme, host and port, and by nothing a package could set.
 */
export class GuardedAgent extends Agent {
    readonly protocol: string;
    readonly defaultPort: number;
    readonly #scheme: Scheme;
    readonly #connector: EgressConnector;
    readonly #handOver: HandOver | undefined;

    /** With `handOver` it serves a single request on a fresh connection; without it connections are kept and reused. */
    constructor(scheme: Scheme, connector: EgressConnector, handOver?: HandOver) {
        super(handOver === undefined ? POOLED : { keepAlive: false, maxSockets: 1 });
        this.protocol = `${scheme}:`;
        this.defaultPort = scheme === 'https' ? 443 : 80;
        this.#scheme = scheme;
        this.#connector = connector;
        this.#handOver = handOver;
    }

    override getName(options: { host?: string | null; port?: string | number | null } = {}): string {
        return `${options.host}:${options.port}`;
    }

    override createConnection(options: ClientRequestArgs, callback: (error: Error | null, socket: Duplex) => void): undefined {
        const target = { host: options.host ?? '', port: Number(options.port ?? this.defaultPort), scheme: this.#scheme };
        this.#open(target).then(
            (socket) => callback(null, socket),
            // Node's type asks for a socket even beside an error; its code looks at the error alone.
            (error: Error) => callback(error, undefined as unknown as Duplex),
        );
    }

    async #open(target: Parameters<EgressConnector['connect']>[0]): Promise<Socket> {
        const socket = await this.#connector.connect(target);
        if (this.#handOver === undefined) return socket;
        // Nobody listens to the socket while the hand-over waits: an error meanwhile shows when the request is written.
        const ignore = () => {};
        socket.on('error', ignore);
        try {
            await this.#handOver();
            return socket;
        } catch (error) {
            socket.destroy();
            throw error;
        } finally {
            socket.off('error', ignore);
        }
    }

    /** A connection that holds bytes nobody asked for could answer the next call with them: it is closed instead of kept. */
    override keepSocketAlive(socket: Duplex): boolean {
        if (socket.readableLength > 0) return false;
        // Node answers with a boolean, which its types do not say; it also applies the site's own `Keep-Alive: timeout`.
        const isKept: unknown = super.keepSocketAlive(socket);
        if (isKept !== true) return false;
        const { timeout = 0 } = socket as Socket;
        socket.once('data', closeAtSurplus);
        (socket as Socket).setTimeout(timeout > 0 ? Math.min(timeout, IDLE) : IDLE, closeIdle);
        return true;
    }

    override reuseSocket(socket: Duplex, request: ClientRequest): void {
        socket.off('data', closeAtSurplus);
        (socket as Socket).setTimeout(0, closeIdle);
        super.reuseSocket(socket, request);
    }
}

function closeAtSurplus(this: Duplex): void {
    this.destroy();
}

function closeIdle(this: Duplex): void {
    this.destroy();
}
