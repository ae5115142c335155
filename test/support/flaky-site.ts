import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { openSite, type Site } from './sites.ts';

/** The current behaviour of a site. */
type Behaviour = 'well' | 'hangs' | ((response: ServerResponse) => void);

/** A site on loopback. A test sets its behaviour. */
export interface FlakySite extends Site {
    behaviour: Behaviour;
    /** The time of each request, by `performance.now()`. */
    arrivals: number[];
    /** Resolves when this many requests hang. */
    hanging(count: number): Promise<void>;
    /** Answers the requests that hang. */
    letGo(): void;
}

export async function openFlakySite(): Promise<FlakySite> {
    const held = new Set<ServerResponse>();
    const events = new EventEmitter();
    const arrivals: number[] = [];
    const site = await openSite((_request, response) => {
        arrivals.push(performance.now());
        if (flaky.behaviour === 'well') return well(response);
        if (flaky.behaviour !== 'hangs') return flaky.behaviour(response);
        held.add(response);
        response.on('close', () => held.delete(response));
        events.emit('held');
    });
    const flaky: FlakySite = Object.assign(site, {
        behaviour: 'well' as Behaviour,
        arrivals,
        async hanging(count: number) {
            while (held.size < count) await once(events, 'held');
        },
        letGo() {
            for (const response of held) well(response);
        },
    });
    return flaky;
}

/** A behaviour: answers with this status, these headers and this body. */
export function says(status: number, headers: Record<string, string> = {}, body = '{"said":true}'): Behaviour {
    return (response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** A package with one read, `thing`, and one write, `order`. */
export function flakyPackage(site: string, port: number, more: Partial<PackageDocument> = {}): PackageDocument {
    const base = `http://${site}:${port}`;
    return {
        format: 'routebook/1',
        site,
        title: 'Flaky',
        intent_category: 'commerce/product-search',
        endpoints: [
            { name: 'thing', method: 'GET', url: `${base}/thing` },
            { name: 'order', method: 'POST', url: `${base}/orders`, effect: 'write' },
        ],
        ...more,
    };
}

function well(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"well":true}');
}
