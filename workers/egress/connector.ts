import { connect as dialTcp, isIP, type Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { HttpProxyAgent } from 'hpagent';
import ipaddr from 'ipaddr.js';
import { createLookup, type Lookup } from './resolver.ts';
import { checkDial, type DialVerdict, type EgressRules, type Scheme } from './rules.ts';

/** The target of a URL: a name or an IP literal (without brackets), a port, and whether it uses TLS. */
export interface Target {
    host: string;
    port: number;
    scheme: Scheme;
}

/** Opens connections that are ready for HTTP, with TLS established and verified if the target uses it. */
export interface EgressConnector {
    /** @param gone aborts when the connection is no longer needed; then all its sockets are closed */
    connect(target: Target, gone?: AbortSignal): Promise<Socket>;
}

/** The guard denied a connection. The reason is only for logs, because it reveals internal addresses. */
export class EgressDenied extends Error {
    readonly reason: DialVerdict | 'peer';

    constructor(reason: DialVerdict | 'peer') {
        super(`egress denied: ${reason}`);
        this.name = 'EgressDenied';
        this.reason = reason;
    }
}

/** DNS, TCP and TLS of one connection together, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/**
 * Creates the egress guard (docs/api.md, "Addresses"). It resolves names itself, refuses the whole DNS answer if one address in it is not
 * allowed, dials exactly the address that it checked, and checks the peer's address again. No setting and no environment variable disables
 * it. With EGRESS_PROXY_URL the proxy resolves names and decides on addresses.
 * @param timeoutMs of DNS, TCP and TLS together; replaced only in tests, like the resolver
 */
export function createConnector(
    rules: EgressRules,
    { timeoutMs = CONNECT_TIMEOUT, lookup = createLookup() }: { timeoutMs?: number; lookup?: Lookup } = {},
): EgressConnector {
    const { proxyUrl } = rules;
    const open =
        proxyUrl === undefined
            ? (target: Target, late: AbortSignal) => dialChecked(target, rules, lookup, late)
            : (target: Target) => throughProxy(proxyUrl, target);
    return {
        connect: (target, gone) => withinTime(timeoutMs, async (late) => finish(await open(target, late), target, late), gone),
    };
}

async function dialChecked(target: Target, rules: EgressRules, lookup: Lookup, late: AbortSignal): Promise<Socket> {
    const addresses = await resolve(target.host, rules, lookup);
    for (const address of addresses) {
        const verdict = checkDial({ ...target, address }, rules);
        if (verdict !== 'allowed') throw new EgressDenied(verdict);
    }
    return dialInTurn(addresses, target.port, late);
}

async function resolve(host: string, rules: EgressRules, lookup: Lookup): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    return rules.hosts.get(host.toLowerCase().replace(/\.$/, '')) ?? lookup(host);
}

/** Dials one address after the other. Each gets an equal share of the time, so an unreachable one leaves time for the next. */
async function dialInTurn(addresses: readonly string[], port: number, gone: AbortSignal): Promise<Socket> {
    let failure: unknown = Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' });
    for (const address of addresses.slice(0, 4)) {
        if (gone.aborted) break;
        try {
            return await withinTime(CONNECT_TIMEOUT / Math.min(4, addresses.length), (late) => dial(address, port, late), gone);
        } catch (error) {
            if (error instanceof EgressDenied) throw error;
            failure = error;
        }
    }
    throw failure;
}

async function dial(address: string, port: number, late: AbortSignal): Promise<Socket> {
    const socket = dialTcp({ host: address, port, autoSelectFamily: false, noDelay: true });
    await waitForOpen(socket, 'connect', late);
    if (socket.remoteAddress === undefined || !isSameAddress(socket.remoteAddress, address)) {
        socket.destroy();
        throw new EgressDenied('peer');
    }
    return socket;
}

function isSameAddress(one: string, other: string): boolean {
    return ipaddr.parse(one).toNormalizedString() === ipaddr.parse(other).toNormalizedString();
}

/** Opens a tunnel by CONNECT. The proxy gets the unresolved name. */
function throughProxy(proxyUrl: string, { host, port }: Target): Promise<Socket> {
    const agent = new HttpProxyAgent({ proxy: proxyUrl, timeout: CONNECT_TIMEOUT });
    return new Promise((done, fail) => {
        const options = { host: isIP(host) === 6 ? `[${host}]` : host, port, timeout: CONNECT_TIMEOUT };
        agent.createConnection(options, (error, socket) => (error === null ? done(socket as Socket) : fail(error)));
    });
}

/** Adds TLS for https. The certificate must match the name in the URL. */
async function finish(socket: Socket, { host, scheme }: Target, late: AbortSignal): Promise<Socket> {
    if (scheme === 'http') return socket;
    const servername = isIP(host) === 0 ? host : '';
    const secure = startTls({ socket, host, servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true, minVersion: 'TLSv1.2' });
    await waitForOpen(secure, 'secureConnect', late);
    return secure;
}

/** Resolves at the event. If the socket fails or ends before it, or `late` aborts, rejects and closes the socket. */
function waitForOpen(socket: Socket, event: 'connect' | 'secureConnect', late: AbortSignal): Promise<void> {
    return new Promise((done, fail) => {
        const ended = () => fail(Object.assign(new Error('the connection was closed before it was ready'), { code: 'ECONNRESET' }));
        const giveUp = () => void socket.destroy();
        socket.once('error', fail);
        socket.once('close', ended);
        late.addEventListener('abort', giveUp);
        if (late.aborted) giveUp();
        socket.once(event, () => {
            socket.off('error', fail);
            socket.off('close', ended);
            late.removeEventListener('abort', giveUp);
            done();
        });
    });
}

/**
 * Limits the time of `open`, and aborts it when the request is over. A site that never finishes a handshake would otherwise keep the
 * socket open. A socket that opens too late is closed.
 */
function withinTime(ms: number, open: (late: AbortSignal) => Promise<Socket>, gone?: AbortSignal): Promise<Socket> {
    return new Promise((done, fail) => {
        const late = new AbortController();
        const giveUp = (code: string, message: string) => {
            fail(Object.assign(new Error(message), { code }));
            late.abort();
        };
        const timer = setTimeout(() => giveUp('ETIMEDOUT', 'the connection was not ready in time'), ms);
        const leave = () => giveUp('ECONNABORTED', 'the request is over');
        gone?.addEventListener('abort', leave);
        if (gone?.aborted) leave();
        open(late.signal)
            .then((socket) => (late.signal.aborted ? void socket.destroy() : done(socket)), fail)
            .finally(() => {
                clearTimeout(timer);
                gone?.removeEventListener('abort', leave);
            });
    });
}
