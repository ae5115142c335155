import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';
import { createConnector, type EgressConnector, type EgressRules } from '../../workers/egress.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { loopbackRules, openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

export const SHOP = 'shop.test';
/** Its names resolve to whatever a form needs. */
export const REBOUND = 'rebound.test';

/** The user's credential for every site that needs one. */
export const CREDENTIAL = 'the-credential-of-the-corpus-4711';
const KEY: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key' };

/** Hex-encodes the target for the good site, since no param may contain some of these texts. */
export const encodePlace = (to: string) => Buffer.from(to).toString('hex');

/** A complete Routebook, a good site on loopback and a forbidden listener beside it. */
export interface Bench {
    world: World;
    person: Person;
    good: Site;
    forbidden: Site;
    rules: EgressRules;
    connector: EgressConnector;
    /** The addresses of a name. Of several lists, each is used once and the last one repeatedly. */
    answers: Answers;
    /** Calls an endpoint of a package with these endpoints, published for this form. */
    call(site: string, endpoint: string, params?: object): Promise<Answer>;
    publish(site: string, endpoints: PackageEndpoint[]): Promise<Answer>;
    /** From now on, calls of the site have the credential. */
    connect(site: string): Promise<Answer>;
    /** Replaces `{good}` and `{forbidden}` by ports. */
    at(url: string): string;
    /**
     * Forbidden connections, requests to the forbidden listener, and hosts that got the credential without permission, since the last call
     * of this function.
     */
    trespasses(): string[];
    /** `host` of the requests that had the credential. */
    credited(): Set<string>;
    close(): Promise<void>;
}

/** @param make another connector than the guarded one, to prove that the corpus detects it */
export async function openBench(make?: (rules: EgressRules, dialled: string[]) => EgressConnector): Promise<Bench> {
    const good = await openSite((request, response) => {
        const url = new URL(request.url ?? '/', 'http://x');
        const to = Buffer.from(url.searchParams.get('to') ?? '', 'hex').toString();
        // Written by hand, since Node refuses some of these headers. Each response closes, so that each request is a new connection.
        const say = (head: string, body: string, type = 'application/json') =>
            response.socket?.end(
                `HTTP/1.1 ${head}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
            );
        if (url.pathname === '/go') return say(`302 Found\r\nLocation: ${to}`, '');
        if (url.pathname === '/list') return say(`200 OK\r\nLink: <${to}>; rel="next"`, '{"items":[1]}');
        if (url.pathname === '/form')
            return say('200 OK', `<form id="f" method="post" action="${to.replaceAll('"', '&quot;')}"></form>`, 'text/html');
        if (url.pathname === '/busy') return say('503 Busy', '{}');
        return say('200 OK', '{"fine":true}');
    });
    const forbidden = await openSite((_request, response) => response.end('{"secret":true}'));
    const answers = new Answers([
        [SHOP, ['127.0.0.1']],
        [`inside.${SHOP}`, ['127.0.0.2']],
    ]);
    // The second entry lets packages name the listener's port. Otherwise a package with it could not be published.
    const fixed = loopbackRules(`127.0.0.1:${good.port},192.0.2.99/32:${forbidden.port}`);
    const rules: EgressRules = { ...fixed, hosts: answers };
    const dialled: string[] = [];
    const connector = make?.(rules, dialled) ?? createConnector(rules);
    const world = await openWorld({ connector, config: { egressAllow: rules.allow, egressHosts: new Next(answers) } });
    const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
    const person = await join(world, { plan: 'enterprise', overrides: unbounded });

    const watch = (message: unknown) => {
        const { socket } = message as { socket: Socket };
        socket.on('connectionAttempt', (address: string, port: number | undefined) => {
            // Without a port it is a socket in the file system, like that of the database.
            const isOurs = port === undefined || (address === '127.0.0.1' && ![80, 443, forbidden.port].includes(port));
            if (!isOurs) dialled.push(`${address}:${port}`);
        });
    };
    subscribe('net.client.socket', watch);
    let reached = 0;
    const reported = new Set<string>();
    const keyed = new Set<string>();
    const credited = () => {
        for (const { path, headers, rawHeaders, body } of [...good.seen, ...forbidden.seen]) {
            if ([path, body, ...rawHeaders].some((text) => text.includes(CREDENTIAL))) keyed.add(String(headers.host));
        }
        return keyed;
    };
    return {
        world,
        person,
        good,
        forbidden,
        rules,
        connector,
        answers,
        async call(site, endpoint, params = {}) {
            const answer = await person.fetch(site, endpoint, params as Record<string, unknown>, { timeout_ms: 20_000 });
            if (answer.text?.includes(CREDENTIAL)) reported.add(`the answer of ${endpoint} contained the credential`);
            return answer;
        },
        publish: (site, endpoints) => person.publish(aPackage(site, { auth: [KEY], endpoints })),
        connect: (site) => person.call('POST', '/v1/connections', { body: { site, secret: { value: CREDENTIAL } } }),
        at: (url) => url.replaceAll('{good}', String(good.port)).replaceAll('{forbidden}', String(forbidden.port)),
        trespasses() {
            const found = dialled.splice(0).map((where) => `${where} was dialled`);
            if (forbidden.connections() > reached) found.push('the forbidden listener was reached');
            reached = forbidden.connections();
            const owed = new Set([SHOP, TURNS].map((host) => `${host}:${good.port}`));
            const strays = [...credited()].filter((host) => !owed.has(host));
            return [...found, ...reported, ...strays.map((host) => `${host} got the credential`)];
        },
        credited,
        async close() {
            unsubscribe('net.client.socket', watch);
            await world.close();
            await good.close();
            await forbidden.close();
        },
    };
}

/** A name of the good site whose addresses change. */
export const TURNS = `turns.${REBOUND}`;

/** The same names for a look-up without a connection, which uses up no list. */
class Next extends Map<string, readonly string[]> {
    readonly #answers: Answers;

    constructor(answers: Answers) {
        super();
        this.#answers = answers;
    }

    override get(name: string): readonly string[] | undefined {
        return this.#answers.next(name);
    }
}

/** DNS responses of a test. */
class Answers extends Map<string, readonly string[]> {
    readonly #next = new Map<string, (readonly string[])[]>();

    /** The first look-up of the name gets the first list, the second the second. */
    inTurn(name: string, ...turns: (readonly string[])[]): void {
        this.#next.set(name, turns);
    }

    /** The response to the next look-up of the name. */
    next(name: string): readonly string[] | undefined {
        return this.#next.get(name)?.[0] ?? super.get(name);
    }

    override get(name: string): readonly string[] | undefined {
        return this.#next.get(name)?.shift() ?? super.get(name);
    }
}
