import { type AgentOptions, type ClientRequest, type RequestOptions, request } from 'node:http';
import { Agent, request as requestByTls } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EgressConnector, Target } from './connector.ts';
import type { Scheme } from './rules.ts';

declare module 'node:http' {
    interface Agent {
        /** Node's client calls this to get a connection. Node's types do not declare it. */
        addRequest(request: ClientRequest, options: RequestOptions): void;
    }
}

/** Idle time of kept connections, in milliseconds. Node servers close theirs after 5 s. */
const IDLE = 4000;

/**
 * No connection limit: slots already limit a worker's calls, and no metric would show calls that wait for a connection. With only 64 kept
 * connections, busy sites reconnected all the time.
 */
const POOLED: AgentOptions = { keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' };

/** The lifetime of a request for a connection. */
export interface Waiting {
    /** Runs `act` when the request is over, or now if it already is. @returns a function that removes `act` */
    whenOver(act: () => void): () => void;
}

/** Node's options of a request, on their way through its client to `createConnection`. */
interface GuardedOptions extends RequestOptions {
    waiting?: Waiting;
}

/** Runs between "connected" and the first byte; a throw closes the connection and nothing is sent. */
export type HandOver = () => Promise<void>;

/**
 * The agent of Node's HTTP client. All its connections come from the guard's connector. One class serves both schemes, because the
 * connector adds TLS. Connections are shared by scheme, host and port, and by nothing that a package can set.
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

    /**
     * Sends one request over this pool. A connection that is still opening when the call ends is closed. Only these options of got reach
     * Node's client: the others concern TLS, which the connector handles, and would be copied four times.
     */
    request(url: URL, { method, headers, maxHeaderSize }: RequestOptions, waiting: Waiting): ClientRequest {
        const options: GuardedOptions = { method, headers, maxHeaderSize, agent: this, waiting };
        return this.#scheme === 'https' ? requestByTls(url, options) : request(url, options);
    }

    override getName(options: Pick<RequestOptions, 'host' | 'port'> = {}): string {
        return `${options.host}:${options.port}`;
    }

    override createConnection({ host, port, waiting }: GuardedOptions, callback: (error: Error | null, socket: Duplex) => void): undefined {
        const target = { host: host ?? '', port: Number(port ?? this.defaultPort), scheme: this.#scheme };
        const gone = new AbortController();
        const forget = waiting?.whenOver(() => gone.abort());
        this.#open(target, gone.signal)
            .finally(forget)
            .then(
                (socket) => callback(null, socket),
                // Node's type requires a socket even with an error; its code reads only the error.
                (error: Error) => callback(error, undefined as unknown as Duplex),
            );
    }

    async #open(target: Target, gone: AbortSignal): Promise<Socket> {
        const socket = await this.#connector.connect(target, gone);
        if (this.#handOver === undefined) return socket;
        // The socket has no other listener during the hand-over. An error in this time is reported when the request is written.
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

    /**
     * Lets the event loop read pending bytes before a kept connection is reused. Unrequested bytes would count as the answer of this call;
     * they close the connection instead (`keepSocketAlive`).
     */
    override addRequest(call: ClientRequest, options: RequestOptions): void {
        const add = () => super.addRequest(call, options);
        if (this.freeSockets[this.getName(options)] === undefined) add();
        // The first `setImmediate` runs in the current loop iteration, so reading needs a second one.
        else setImmediate(() => setImmediate(add));
    }

    override keepSocketAlive(socket: Duplex): boolean {
        // Node answers with a boolean, which its types do not say; it also applies the site's own `Keep-Alive: timeout`.
        const isKept: unknown = super.keepSocketAlive(socket);
        if (isKept !== true) return false;
        const { timeout = 0 } = socket as Socket;
        socket.once('data', close);
        (socket as Socket).setTimeout(timeout > 0 ? Math.min(timeout, IDLE) : IDLE, close);
        return true;
    }

    override reuseSocket(socket: Duplex, request: ClientRequest): void {
        socket.off('data', close);
        (socket as Socket).setTimeout(0, close);
        super.reuseSocket(socket, request);
    }
}

function close(this: Duplex): void {
    this.destroy();
}

export type Agents = ReturnType<typeof createAgents>;

/** Creates the agents of both schemes. */
export function createAgents(connector: EgressConnector) {
    const kept = { http: new GuardedAgent('http', connector), https: new GuardedAgent('https', connector) };
    const schemeOf = (url: string) => (url.startsWith('https:') ? 'https' : 'http');
    return {
        /** @param url normalised */
        of: (url: string) => kept[schemeOf(url)],
        /** An agent for a single request on a fresh connection. */
        once: (url: string, handOver: HandOver) => new GuardedAgent(schemeOf(url), connector, handOver),
        close() {
            kept.http.destroy();
            kept.https.destroy();
        },
    };
}
