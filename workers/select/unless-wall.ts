import type { Page } from '../upstream/answers.ts';
import { wallOf } from '../upstream/walls.ts';
import type { Refused } from './answer-tasks.ts';
import type { RawPage } from './read-page.ts';

/** What was read of a page with a 2xx, or UPSTREAM_BLOCKED where the page is a bot wall. JSON that fits is none, whatever it says. */
export function unlessWall<T extends { ok: true } | Refused>({ headers, body }: Page, { type }: RawPage, reading: T): T | Refused {
    if (!reading.ok && reading.code !== 'UPSTREAM_INVALID_RESPONSE') return reading;
    const isLookedAt = !reading.ok || type !== 'json';
    const wall = wallOf({ headers, body: isLookedAt ? body : undefined }, reading.ok ? 'fits' : 'unreadable');
    return wall === undefined ? reading : { ok: false, code: 'UPSTREAM_BLOCKED', message: wall, details: [] };
}
