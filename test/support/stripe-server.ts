import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Config } from '../../shared/platform/config.ts';
import { type Bank, openBank, StripeFault } from './stripe/bank.ts';
import { readForm } from './stripe/forms.ts';
import { type Asked, answer } from './stripe/routes.ts';

export interface StripeEvent {
    id: string;
    type: string;
    /** The bytes that are signed and sent. */
    payload: string;
}

/** How an event is sent, if it differs from Stripe. */
interface Delivery {
    base?: string;
    secret?: string;
    /** Seconds since the epoch at which it was signed. */
    timestamp?: number;
    payload?: string;
}

/**
 * Stripe on loopback, like its published API: requests are forms and answers JSON, with error types and codes, idempotency keys, a payment
 * page and signed events. A test decides how often and in which order events are sent.
 */
export interface LocalStripe {
    url: string;
    settings: NonNullable<Config['stripe']>;
    bank: Bank;
    /** The API calls in order. */
    asked: (Asked & { idempotencyKey: string | undefined })[];
    /** Events that were not sent yet. */
    waiting: StripeEvent[];
    /** Uses the clock of this world and sends events to it. */
    serve(world: { app: { clock: { now(): number } }; base: string }): void;
    /** Sends one event; resolves with the status of the answer. */
    send(event: StripeEvent, delivery?: Delivery): Promise<number>;
    /** Sends all waiting events, and repeats each until it is accepted. */
    deliver(): Promise<void>;
    /** Sends each event immediately from now on. */
    deliverAtOnce(): void;
    /** Makes the API answer everything with this status, or close the connection. Undefined ends this. */
    fail(how: number | 'close' | undefined): void;
    /** Sets a hook that runs before an answer is sent, while the caller waits. */
    beforeAnswer(hook: ((asked: Asked) => Promise<void> | void) | undefined): void;
    close(): Promise<void>;
}

const SECRET = 'whsec_of_the_local_stripe';
const KEY = 'sk_test_local';

export async function openStripe(): Promise<LocalStripe> {
    const signer = new Stripe(KEY);
    const asked: LocalStripe['asked'] = [];
    const waiting: StripeEvent[] = [];
    const remembered = new Map<string, { status: number; body: object; text: string }>();
    let clock: { now(): number } = { now: () => Date.now() };
    let target = '';
    let failure: number | 'close' | undefined;
    let hook: ((call: Asked) => Promise<void> | void) | undefined;
    let isPrompt = false;
    const running = new Set<Promise<unknown>>();

    const server = createServer((request, response) => {
        serveRequest(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const now = () => Math.floor(clock.now() / 1000);
    const bank = openBank({ base: url, now, emit });

    function emit(type: string, object: object): void {
        const event = { id: `evt_${newId('op').slice(3)}`, object: 'event', type, created: now(), livemode: false, pending_webhooks: 1 };
        const payload = JSON.stringify({ ...event, api_version: Stripe.API_VERSION, data: { object } });
        waiting.push({ id: event.id, type, payload });
        if (isPrompt) setImmediate(() => track(deliver()));
    }

    function track(work: Promise<unknown>): void {
        running.add(work);
        void work.finally(() => running.delete(work));
    }

    async function send(
        event: StripeEvent,
        { base = target, secret = SECRET, timestamp = now(), payload }: Delivery = {},
    ): Promise<number> {
        const signature = signer.webhooks.generateTestHeaderString({ payload: event.payload, secret, timestamp });
        const reply = await fetch(`${base}/webhooks/stripe`, {
            method: 'POST',
            headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
            body: payload ?? event.payload,
        });
        await reply.arrayBuffer();
        return reply.status;
    }

    async function deliver(): Promise<void> {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
            for (let tries = 0; ; tries++) {
                const status = await send(event);
                if (status < 300) break;
                if (tries > 20) throw new Error(`${event.type} is answered with ${status}`);
            }
        }
    }

    async function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
        const { pathname, search } = new URL(request.url ?? '/', url);
        const text = Buffer.concat(await request.toArray()).toString();
        if (!pathname.startsWith('/v1/')) return showPage(request.method ?? 'GET', pathname, search, response);
        const call: Asked = { method: request.method ?? 'GET', path: pathname, form: readForm(text === '' ? search : text) };
        const idempotencyKey = request.headers['idempotency-key']?.toString();
        asked.push({ ...call, idempotencyKey });
        if (failure === 'close') return void response.destroy();
        const reply = failure === undefined ? replyTo(request, call, text, idempotencyKey) : outage(failure);
        await hook?.(call);
        response.writeHead(reply.status, { 'content-type': 'application/json', 'request-id': `req_${newId('op').slice(3)}` });
        response.end(JSON.stringify(reply.body));
    }

    function replyTo(request: IncomingMessage, call: Asked, text: string, key: string | undefined): { status: number; body: object } {
        if (request.headers.authorization !== `Bearer ${KEY}`) {
            return { status: 401, body: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided.' } } };
        }
        const before = key === undefined ? undefined : remembered.get(key);
        if (before !== undefined && before.text !== text) {
            return {
                status: 400,
                body: { error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters.' } },
            };
        }
        if (before !== undefined) return before;
        const reply = tryToAnswer(call);
        if (key !== undefined) remembered.set(key, { ...reply, text });
        return reply;
    }

    function tryToAnswer(call: Asked): { status: number; body: object } {
        try {
            return { status: 200, body: answer(bank, call, url) };
        } catch (error) {
            if (error instanceof StripeFault) return { status: error.status, body: error.body };
            throw error;
        }
    }

    /** The pages that Stripe shows to people: payment, the portal, and an invoice. */
    function showPage(method: string, path: string, search: string, response: ServerResponse): void {
        const session = bank.sessions.get(/^\/c\/pay\/(.+)$/.exec(path)?.[1] ?? '');
        if (session !== undefined && method === 'POST') {
            bank.pay(session.id);
            response.writeHead(303, { location: session.successUrl.replace('{CHECKOUT_SESSION_ID}', session.id) }).end();
            return;
        }
        const back = new URLSearchParams(search).get('back') ?? session?.cancelUrl ?? '';
        const action = session === undefined ? '' : `<form method="post"><button>Subscribe</button></form>`;
        const title = session === undefined ? 'Stripe on loopback' : `Pay for ${session.price}`;
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
        response.end(
            `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1>${action}<a href="${back}">Back</a></main></html>`,
        );
    }

    return {
        url,
        settings: { secretKey: KEY, webhookSecret: SECRET, priceStarter: 'price_starter_49', pricePro: 'price_pro_149', apiBase: url },
        bank,
        asked,
        waiting,
        serve(world) {
            clock = world.app.clock;
            target = world.base;
        },
        send,
        deliver,
        deliverAtOnce() {
            isPrompt = true;
        },
        fail(how) {
            failure = how;
        },
        beforeAnswer(wanted) {
            hook = wanted;
        },
        async close() {
            await Promise.allSettled(running);
            server.closeAllConnections();
            await new Promise((resolve) => server.close(resolve));
        },
    };
}

function outage(status: number): { status: number; body: object } {
    return { status, body: { error: { type: 'api_error', message: 'Something is wrong on our side.' } } };
}
