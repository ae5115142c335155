import type { IncomingMessage } from 'node:http';
import { type Fate, MAX_CHALLENGE, recogniseChallenge } from '../../shared/domain/fetch/blocked-page.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import type { CallCredential } from '../credentials/credential.ts';
import type { Pace } from '../pace.ts';
import type { Page } from './answers.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { UpstreamFault } from './failures.ts';
import { isRetriedStatus, readRetryAfter } from './retries.ts';

/** Bytes of an error answer to read for its snippet, and the time for it in milliseconds. */
const REFUSAL_BODY = 16 * 1024;
const REFUSAL_PATIENCE = 1000;

interface Refused {
    host: string;
    /** When it was sent, by `performance.now()`. */
    began: number;
    isAttached: boolean;
    credential: CallCredential | undefined;
    pace: Pace | undefined;
}

/** The fault for a status other than 2xx, with the beginning of its body if that arrives soon. A 429 pauses the host. */
export async function readRefused(
    response: IncomingMessage,
    exchange: Exchange,
    { host, began, isAttached, credential, pace }: Refused,
): Promise<UpstreamFault> {
    const status = response.statusCode ?? 0;
    const patience = setTimeout(() => exchange.abandon(), REFUSAL_PATIENCE);
    const body = await readBody(response, REFUSAL_BODY, { keepsBeginning: true }).catch(() => undefined);
    clearTimeout(patience);
    if (body === undefined || !body.isWhole) exchange.abandon();
    const retryAfter = readRetryAfter(response.headers['retry-after'], Date.now());
    if (status === 429) pace?.slowDown(host, { retryAfter, ageMs: performance.now() - began, isOwn: isAttached });
    const bytes = body && (credential?.maskBytes(body.bytes, response.headers['content-type']) ?? body.bytes);
    const snippet = bytes === undefined ? '' : snippetOf(bytes, credential?.maskText);
    const isCallers = isAttached && (status === 401 || status === 403);
    if (isAttached && status === 401) return new UpstreamFault('UPSTREAM_UNAUTHORIZED', undefined, { status, snippet, isCallers });
    const challenge = botChallengeOf({ headers: response.headers, body: body?.bytes }, 'refused');
    if (challenge !== undefined) return new UpstreamFault('UPSTREAM_BLOCKED', challenge, { status, snippet });
    return new UpstreamFault(status === 429 ? 'UPSTREAM_RATE_LIMITED' : 'UPSTREAM_STATUS', undefined, {
        isTransient: isRetriedStatus(status),
        status,
        snippet,
        isCallers,
        ...(retryAfter === undefined ? {} : { retryAfter }),
    });
}

/** Characters of an error answer that callers see (docs/api.md, "Errors"). */
const MAX_SNIPPET = 512;

/** Characters to scan. A secret that begins inside the snippet may end behind it. */
const SCANNED = 4096;

/**
 * The beginning of a body as readable text: one line without control characters and secrets, at most 512 characters.
 * @param mask hides other texts that must not be shown
 */
function snippetOf(body: Uint8Array, mask: (text: string) => string = (text) => text): string {
    // A UTF-8 character has at most four bytes, so the cut is behind the scanned part.
    const text = mask(new TextDecoder().decode(body.subarray(0, SCANNED * 4))).slice(0, SCANNED);
    const shown = withoutSecrets(text.replace(/[\s\u0000-\u001f\u007f-\u009f\ufffd]+/g, ' ').trim());
    return shown.slice(0, MAX_SNIPPET).toWellFormed();
}

/** Removes secrets word by word, or the whole text if a secret spans several words. */
function withoutSecrets(text: string): string {
    if (findSecrets(text) === undefined) return text;
    const rest = text
        .split(' ')
        .map((word) => (findSecrets(word) === undefined ? word : '[removed]'))
        .join(' ');
    return findSecrets(rest) === undefined ? rest : '[removed]';
}

/** The public message for an answer that is a bot challenge or a captcha; undefined for others. */
export function botChallengeOf(
    { headers, body }: { headers: Page['headers']; body: Uint8Array | undefined },
    fate: Fate,
): string | undefined {
    const text = body === undefined ? '' : Buffer.from(body.subarray(0, MAX_CHALLENGE + 1)).toString('latin1');
    const challenge = recogniseChallenge({ headers, body: text }, fate);
    return challenge === undefined ? undefined : `The site showed a bot challenge (${challenge}) instead of its answer.`;
}
