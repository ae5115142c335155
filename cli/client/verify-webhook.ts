import type { JsonObject } from './types.ts';

export interface WebhookEvent {
    /** `evt_…`: the same in every attempt. */
    id: string;
    type: string;
    timestamp: string;
    data: JsonObject;
}

/** The request is not from the webhook with this secret, or it is too old. */
export class WebhookVerificationError extends Error {
    override readonly name = 'WebhookVerificationError';
}

/** Request headers: those of the Fetch API, or an object. Names may have any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How far the timestamp may differ from now, in seconds. An older request may be a replay. */
const TOLERANCE = 300;

/** Verifies a raw body and its headers (Standard Webhooks) and parses the event, also in browsers. @throws WebhookVerificationError */
export async function verifyWebhook(headers: WebhookHeaders, body: string | Uint8Array, secret: string): Promise<WebhookEvent> {
    const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`));
    if (!id || !time || !signatures) {
        throw new WebhookVerificationError('webhook-id, webhook-timestamp and webhook-signature are required; at least one is missing');
    }
    if (!/^\d{1,12}$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE) {
        throw new WebhookVerificationError('webhook-timestamp is not within five minutes of now');
    }
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const key = await importKey(secret);
    const signed = concat(new TextEncoder().encode(`${id}.${time}.`), bytes);
    for (const signature of signatures.split(' ')) {
        const [version, text = ''] = signature.split(',');
        const given = version === 'v1' ? fromBase64(text) : undefined;
        // Compares in constant time.
        if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) {
            return { id, ...(JSON.parse(new TextDecoder().decode(bytes)) as Omit<WebhookEvent, 'id'>) };
        }
    }
    throw new WebhookVerificationError('no signature matches: the secret is wrong or the body was changed');
}

async function importKey(secret: string): Promise<CryptoKey> {
    const bytes = fromBase64(secret.replace(/^whsec_/, ''));
    if (bytes === undefined || bytes.length === 0) throw new WebhookVerificationError('the secret of a webhook must be whsec_ and base64');
    return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
    if (headers instanceof Headers) return headers.get(name) ?? undefined;
    const value = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
    return typeof value === 'object' ? value[0] : value;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
    try {
        return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    } catch {
        return undefined;
    }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
    const both = new Uint8Array(one.length + other.length);
    both.set(one);
    both.set(other, one.length);
    return both;
}
