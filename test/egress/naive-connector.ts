import { connect, isIP, type Socket } from 'node:net';
import { type EgressConnector, EgressDenied, type EgressRules, type Target } from '../../workers/egress.ts';

/** A connector without the guard: it connects to the first address of a name. Real connections stay on this machine. */
export class NaiveConnector implements EgressConnector {
    readonly #rules: EgressRules;
    readonly #dialled: string[];

    constructor(rules: EgressRules, dialled: string[]) {
        this.#rules = rules;
        this.#dialled = dialled;
    }

    async connect({ host, port }: Target): Promise<Socket> {
        const address = isIP(host) === 0 ? (this.#rules.hosts.get(host)?.[0] ?? '127.0.0.1') : host;
        if (!/^(127\.0\.0\.1|::1)$/.test(address)) {
            this.#dialled.push(`${address}:${port}`);
            // Throws a denial, since a worker would retry a refused connection after a pause.
            throw new EgressDenied('peer');
        }
        const socket = connect(port, address);
        await new Promise((done, fail) => socket.once('connect', done).once('error', fail));
        return socket;
    }
}
