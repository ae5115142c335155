import type { Socket } from 'node:net';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { createConnector, createLookup } from '../../workers/egress.ts';
import { createAuthority } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { loopbackRules } from '../support/sites.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';
import { type Behaviour, OK, whole } from './behaviour.ts';
import { type OpenPlace, openPlace, trust } from './places.ts';

export type Effect = 'read' | 'write';

/** The outcome of one call. */
export interface Ran {
    status: number;
    code: string;
    retryable: boolean | undefined;
    creditsUsed: number;
    creditsRemaining: number;
    elapsedMs: number;
    /** Requests that reached the site. */
    requests: number;
    /** The time from the last permitted byte to the response, and to the end of the connection if the site sends without end. */
    pastCap?: { answeredMs: number; closedMs?: number };
}

/** A world in which every behaviour has its own site, so that they share no circuit and no request rate. */
export interface HostileSites {
    world: World;
    people: Person[];
    /** Calls the site of a behaviour through the complete path: API, queue, worker, ledger. */
    call(behaviour: Behaviour, effect: Effect, person: Person, timeoutMs: number): Promise<Ran>;
    /** Calls a well-behaved page on the same host, if plain HTTP reaches it. Returns the body if it is not the expected one. */
    callGood(behaviour: Behaviour, person: Person): Promise<string | undefined>;
    close(): Promise<void>;
}

/** What one call did at its site. */
interface Visit {
    turns: number;
    passedAt?: number;
    isEndless?: boolean;
    closed: PromiseWithResolvers<number>;
}

export async function openHostileSites(behaviours: readonly Behaviour[], people: number): Promise<HostileSites> {
    const visits = new Map<string, Visit>();
    const closers: (() => unknown)[] = [];
    const hostOf = (behaviour: Behaviour) => `b${behaviours.indexOf(behaviour)}.test`;
    /** A read that makes the site rate-limit us also slows down the next call, so the write has a site of its own. */
    const slowsDown = ({ read }: Behaviour) => read.code === 'UPSTREAM_RATE_LIMITED';
    const siteOf = (behaviour: Behaviour, effect: Effect) =>
        effect === 'write' && slowsDown(behaviour) ? `w${hostOf(behaviour)}` : hostOf(behaviour);
    const sitesOf = (behaviour: Behaviour) => [...new Set([siteOf(behaviour, 'read'), siteOf(behaviour, 'write')])];

    /** Counts one request of a call. Bytes that are not a request belong to no call. */
    function visit(behaviour: Behaviour, port: number, socket: Socket, call: string | undefined): void {
        const here = { host: hostOf(behaviour), port };
        const known = call === undefined ? undefined : visits.get(call);
        const turn = known === undefined ? 1 : ++known.turns;
        const passed = (rest?: 'endless') => {
            if (known !== undefined) Object.assign(known, { passedAt: performance.now(), isEndless: rest === 'endless' });
        };
        socket.once('close', () => known?.closed.resolve(performance.now()));
        behaviour.serve({ socket, here, turn, passed });
    }

    /** Serves every request that comes over a connection. */
    function attend(socket: Socket, port: () => number, only?: Behaviour): void {
        socket.setMaxListeners(0).on('error', () => {});
        socket.on('data', (chunk) => {
            const [, path = ''] = chunk.toString('latin1').split(' ', 2);
            const [, first = '', call] = path.split(/[/?]/);
            if (first === 'good') return void socket.write(whole(OK, `{"good":${call}}`));
            const behaviour = only ?? behaviours[Number(first)];
            if (behaviour !== undefined) visit(behaviour, port(), socket, call);
        });
    }

    const authority = createAuthority();
    closers.push(trust(authority));
    const shared: OpenPlace = await openPlace({ kind: 'http' }, '', (socket) => attend(socket, () => shared.port));
    closers.push(() => shared.close());
    const places = new Map<Behaviour, OpenPlace>();
    for (const behaviour of behaviours) {
        const { kind } = behaviour.place;
        if (kind === 'http' || kind === 'dns') {
            places.set(behaviour, shared);
            continue;
        }
        const serve = (socket: Socket) => attend(socket, () => places.get(behaviour)?.port ?? 0, behaviour);
        const place = await openPlace(behaviour.place, hostOf(behaviour), serve, authority);
        places.set(behaviour, place);
        closers.push(() => place.close());
    }

    const named = new Map<string, Behaviour>(behaviours.map((behaviour) => [hostOf(behaviour), behaviour]));
    const fixed = behaviours.filter(({ place }) => place.kind !== 'dns').flatMap(sitesOf);
    const hosts = Object.fromEntries(
        fixed.flatMap((host) => [
            [host, '127.0.0.1'],
            [`inside.${host}`, '10.0.0.1'],
        ]),
    );
    const allow = [...new Set([...places.values()].map(({ port }) => `127.0.0.1:${port}`))].join(',');
    const rules = loopbackRules(allow, { ...hosts, 'elsewhere.test': '127.0.0.1' });
    const lookup = createLookup(async (host) => {
        const place = named.get(host)?.place;
        return place?.kind === 'dns' ? place.lookup() : [];
    });
    const world = await openWorld({
        topology: TOPOLOGIES.at(-1) ?? 'postgres',
        connector: createConnector(rules, { lookup }),
        config: { egressAllow: rules.allow, egressHosts: rules.hosts },
    });
    closers.push(() => world.close());

    const unbounded = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 1000 };
    const callers: Person[] = [];
    for (let index = 0; index < people; index++) callers.push(await join(world, { plan: 'enterprise', overrides: unbounded }));
    // An account of its own, since the first call by others earns the publisher credits.
    const publisher = await join(world, { plan: 'enterprise', overrides: unbounded });
    for (const [index, behaviour] of behaviours.entries()) {
        const { scheme = 'http', port = 0 } = places.get(behaviour) ?? {};
        for (const site of sitesOf(behaviour)) {
            const document = packageOf(site, `${scheme}://${site}:${port}`, index);
            // A busy machine may answer that it is overloaded.
            await eventually(
                () => publisher.publish(document),
                ({ status }) => status === 201 || status === 200,
                30_000,
            );
        }
    }

    let calls = 0;
    let refused = 0;
    /** A slow machine may refuse a call before it is sent. Such calls are repeated, but few are allowed, since sites must cause none. */
    const hasRoomLater = ({ error }: Record<string, unknown>) =>
        (error as { code?: string } | undefined)?.code === 'SERVICE_UNAVAILABLE' && ++refused <= MAX_REFUSED;
    const sites: HostileSites = {
        world,
        people: callers,
        async call(behaviour, effect, person, timeoutMs) {
            const call = String(++calls);
            const visited: Visit = { turns: 0, closed: Promise.withResolvers() };
            visits.set(call, visited);
            const began = performance.now();
            const { status, body } = await person.fetch(siteOf(behaviour, effect), effect, { call: calls }, { timeout_ms: timeoutMs });
            const answeredAt = performance.now();
            if (hasRoomLater(body)) return sites.call(behaviour, effect, person, timeoutMs);
            const { code = 'success', retryable } = (body['error'] ?? {}) as { code?: string; retryable?: boolean };
            const { credits_used: creditsUsed, credits_remaining: creditsRemaining } = body['meta'] as Record<string, number>;
            const { passedAt, isEndless } = visited;
            const pastCap = async (at: number) => ({
                answeredMs: answeredAt - at,
                ...(isEndless ? { closedMs: (await visited.closed.promise) - at } : {}),
            });
            return {
                status,
                code,
                retryable,
                creditsUsed: creditsUsed ?? Number.NaN,
                creditsRemaining: creditsRemaining ?? Number.NaN,
                elapsedMs: answeredAt - began,
                requests: visited.turns,
                ...(passedAt === undefined ? {} : { pastCap: await pastCap(passedAt) }),
            };
        },
        async callGood(behaviour, person) {
            const call = ++calls;
            const { body } = await person.fetch(hostOf(behaviour), 'good', { call });
            if (hasRoomLater(body)) return sites.callGood(behaviour, person);
            return (body['data'] as { good?: number } | undefined)?.good === call ? undefined : JSON.stringify(body);
        },
        async close() {
            for (const close of closers.toReversed()) await close();
        },
    };
    return sites;
}

/** Maximum number of refused calls, of about two hundred. */
const MAX_REFUSED = 5;

/** A read and a write of one behaviour, and a good page on the same host. */
function packageOf(site: string, base: string, index: number): PackageDocument {
    const params = [{ name: 'call', source: 'path', required: true, schema: { type: 'integer' } }] as const;
    return {
        format: 'routebook/1',
        site,
        title: 'Hostile',
        intent_category: 'commerce/product-search',
        endpoints: [
            { name: 'read', method: 'GET', url: `${base}/${index}/{call}`, params: [...params] },
            { name: 'write', method: 'POST', url: `${base}/${index}/{call}`, params: [...params] },
            { name: 'good', method: 'GET', url: `${base}/good/{call}`, params: [...params] },
        ],
    };
}
