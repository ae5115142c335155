import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { openSite, type Seen } from './sites.ts';

/** A received event. */
export interface ToldEvent {
    /** webhook-id */
    id: string;
    type: string;
    timestamp: string;
    data: Record<string, unknown>;
    headers: Seen['headers'];
    path: string;
}

/** A receiver of webhooks on loopback. */
export interface Receiver {
    readonly port: number;
    url(path?: string): string;
    /**
     * The events received at a path, in order. With a secret, the published library verifies each of them and throws if a signature is
     * wrong.
     */
    told(secret?: string, path?: string): ToldEvent[];
    /** Sets how it answers from now on; 204 by default. A function that does nothing never answers. */
    answer(how: (response: ServerResponse, seen: ToldEvent) => void): void;
    connections(): number;
    close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
    let how = (response: ServerResponse, _seen: ToldEvent): void => void response.writeHead(204).end();
    const site = await openSite((request, response) => how(response, toEvent(request.headers, request.text, request.url ?? '/')));
    return {
        port: site.port,
        url: (path = '/hook') => `http://127.0.0.1:${site.port}${path}`,
        told: (secret, path) =>
            site.seen
                .filter((seen) => path === undefined || seen.path === path)
                .map(({ headers, body, path: at }) => {
                    if (secret !== undefined) new Webhook(secret).verify(body, headers as Record<string, string>);
                    return toEvent(headers, body, at);
                }),
        answer(next) {
            how = next;
        },
        connections: () => site.connections(),
        close: () => site.close(),
    };
}

function toEvent(headers: Seen['headers'], body: string, path: string): ToldEvent {
    return { ...JSON.parse(body), id: String(headers['webhook-id']), headers, path };
}
