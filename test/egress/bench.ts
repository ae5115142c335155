import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { createConnector, type EgressConnector, type EgressRules } from '../../workers/egress.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { loopbackRules, openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

export const SHOP = 'shop.test';
/** Its names lead wherever a form wants. */
export const REBOUND = 'rebound.test';

/** How a form tells the good site where to send us: no param may hold some of these texts. */
export const encodePlace = (to: string) => Buffer.from(to).toString('hex');

/** A whole Routebook, a good site on loopback and a listener beside it that nobody may reach. */
export interface Bench {
    world: World;
    person: Person;
    good: Site;
    forbidden: Site;
    rules: EgressRules;
    connector: EgressConnector;
    /** What a name leads to; a list of lists is used up one by one, its last stays. */
    answers: Answers;
    /** Calls an endpoint of a package with these endpoints, published for this form. */
    call(site: string, endpoint: string, params?: object): Promise<Answer>;
    publish(site: string, endpoints: PackageEndpoint[]): Promise<Answer>;
    /** `{good}` and `{forbidden}` in it become ports. */
    at(url: string): string;
    /** Whether somebody dialled what may not be dialled, or reached the forbidden listener, since the last time that this was asked. */
    trespasses(): string[];
    close(): Promise<void>;
}

/** @param make another connector than the guarded one proves that the corpus notices */
export async function openBench(make?: (rules: EgressRules, dialled: string[]) => EgressConnector): Promise<Bench> {
    const good = await openSite((request, response) => {
        const url = new URL(request.url ?? '/', 'http://x');
        const to = Buffer.from(url.searchParams.get('to') ?? '', 'hex').toString();
        // Written by hand: Node refuses some of these headers. Each answer closes, so that each request is a dial.
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
    // The second entry lets packages name the listener's port: what they may not name cannot be tried.
    const fixed = loopbackRules(`127.0.0.1:${good.port},192.0.2.99/32:${forbidden.port}`);
    const rules: EgressRules = { ...fixed, hosts: answers };
    const dialled: string[] = [];
    const connector = make?.(rules, dialled) ?? createConnector(rules);
    const world = await openWorld({ connector, config: { egressAllow: rules.allow, egressHosts: answers } });
    const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
    const person = await join(world, { plan: 'enterprise', overrides: unbounded });

    const watch = (message: unknown) => {
        const { socket } = message as { socket: Socket };
        socket.on('connectionAttempt', (address: string, port: number | undefined) => {
            // Without a port: a socket in the file system, as the database has one.
            const isOurs = port === undefined || (address === '127.0.0.1' && ![80, 443, forbidden.port].includes(port));
            if (!isOurs) dialled.push(`${address}:${port}`);
        });
    };
    subscribe('net.client.socket', watch);
    let reached = 0;
    return {
        world,
        person,
        good,
        forbidden,
        rules,
        connector,
        answers,
        call: (site, endpoint, params = {}) => person.fetch(site, endpoint, params as Record<string, unknown>, { timeout_ms: 5000 }),
        publish: (site, endpoints) => person.publish(aPackage(site, { endpoints })),
        at: (url) => url.replaceAll('{good}', String(good.port)).replaceAll('{forbidden}', String(forbidden.port)),
        trespasses() {
            const found = dialled.splice(0).map((where) => `${where} was dialled`);
            if (forbidden.connections() > reached) found.push('the forbidden listener was reached');
            reached = forbidden.connections();
            return found;
        },
        async close() {
            unsubscribe('net.client.socket', watch);
            await world.close();
            await good.close();
            await forbidden.close();
        },
    };
}

/** DNS as a test wants it. */
export class Answers extends Map<string, readonly string[]> {
    readonly #next = new Map<string, (readonly string[])[]>();

    /** The first look-up of the name gets the first list, the second the second. */
    inTurn(name: string, ...turns: (readonly string[])[]): void {
        this.#next.set(name, turns);
    }

    override get(name: string): readonly string[] | undefined {
        return this.#next.get(name)?.shift() ?? super.get(name);
    }
}
