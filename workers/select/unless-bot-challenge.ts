import type { Page } from '../upstream/answers.ts';
import { botChallengeOf } from '../upstream/bot-challenges.ts';
import type { Refused } from './answer-tasks.ts';
import type { RawPage } from './read-page.ts';

/** The reading of a 2xx page, or UPSTREAM_BLOCKED if the page is a bot challenge. JSON that fits the schema is never one. */
export function unlessBotChallenge<T extends { ok: true } | Refused>({ headers, body }: Page, { type }: RawPage, reading: T): T | Refused {
    if (!reading.ok && reading.code !== 'UPSTREAM_INVALID_RESPONSE') return reading;
    const isLookedAt = !reading.ok || type !== 'json';
    const wall = botChallengeOf({ headers, body: isLookedAt ? body : undefined }, reading.ok ? 'fits' : 'unreadable');
    return wall === undefined ? reading : { ok: false, code: 'UPSTREAM_BLOCKED', message: wall, details: [] };
}
