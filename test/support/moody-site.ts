import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { openSite, type Site } from './sites.ts';

/** How a site answers at the moment. */
export type Mood = 'well' | 'hangs' | ((response: ServerResponse) => void);

/** A site on loopback whose mood a test sets. */
export interface MoodySite extends Site {
    mood: Mood;
    /** When each request came, `performance.now()`. */
    arrivals: number[];
    /** Resolves when so many requests hang. */
    hanging(count: number): Promise<void>;
    /** Answers the requests that hang. */
    letGo(): void;
}

export async function openMoodySite(): Promise<MoodySite> {
    const held = new Set<ServerResponse>();
    const events = new EventEmitter();
    const arrivals: number[] = [];
    const site = await openSite((_request, response) => {
        arrivals.push(performance.now());
        if (moody.mood === 'well') return well(response);
        if (moody.mood !== 'hangs') return moody.mood(response);
        held.add(response);
        response.on('close', () => held.delete(response));
        events.emit('held');
    });
    const moody: MoodySite = Object.assign(site, {
        mood: 'well' as Mood,
        arrivals,
        async hanging(count: number) {
            while (held.size < count) await once(events, 'held');
        },
        letGo() {
            for (const response of held) well(response);
        },
    });
    return moody;
}

/** A mood: this status, and what else the site says. */
export function says(status: number, headers: Record<string, string> = {}, body = '{"said":true}'): Mood {
    return (response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** One read, `thing`, and one write, `order`. */
export function moodyPackage(site: string, port: number, more: Partial<PackageDocument> = {}): PackageDocument {
    const base = `http://${site}:${port}`;
    return {
        format: 'routebook/1',
        site,
        title: 'Moody',
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
