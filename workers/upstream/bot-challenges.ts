import { type Fate, MAX_CHALLENGE, recogniseChallenge } from '../../shared/domain/fetch/blocked-page.ts';
import type { Page } from './answers.ts';

/** The public message for an answer that is a bot challenge or a captcha; undefined for others. */
export function botChallengeOf(
    { headers, body }: { headers: Page['headers']; body: Uint8Array | undefined },
    fate: Fate,
): string | undefined {
    const text = body === undefined ? '' : Buffer.from(body.subarray(0, MAX_CHALLENGE + 1)).toString('latin1');
    const challenge = recogniseChallenge({ headers, body: text }, fate);
    return challenge === undefined ? undefined : `The site showed a bot challenge (${challenge}) instead of its answer.`;
}
