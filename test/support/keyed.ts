import { checkAnswer } from './answers.ts';
import type { Person } from './people.ts';

/** An answer with its original text. */
export interface KeyedAnswer {
    status: number;
    headers: Headers;
    text: string;
    /** `success` or the code. */
    code: string;
}

/** Sends `POST /v1/fetch` with an Idempotency-Key. */
export async function sendKeyed(
    base: string,
    { apiKey }: Pick<Person, 'apiKey'>,
    key: string,
    body: object | string,
    signal?: AbortSignal,
): Promise<KeyedAnswer> {
    const response = await fetch(`${base}/v1/fetch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
    });
    const { status, headers } = response;
    const text = await response.text();
    const parsed = JSON.parse(text) as { error?: { code: string } };
    checkAnswer('POST', '/v1/fetch', { status, headers, body: parsed as Record<string, unknown> });
    return { status, headers, text, code: parsed.error?.code ?? 'success' };
}
