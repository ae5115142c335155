import { setTimeout as pause } from 'node:timers/promises';
import type { EventEntry, EventsQuery } from '../../shared/contracts/events.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { countEvents, endOfFeed, type FeedEvent, type FeedPage, readEvents, typesOf } from '../../shared/store/events/event-feed.ts';
import { countInWindow } from '../admission/count-in-window.ts';
import { perApp } from '../admission/per-app.ts';
import { checkKeyAgain } from '../auth/check-key-again.ts';
import type { Call, Reply } from '../call.ts';

const LOOK_MS = 500;
/** Calls of one account that may wait in one process; further calls are answered at once. */
const MAX_WAITING = 50;
const DEFAULT_LIMIT = 20;

const waitingOf = perApp(() => new Map<string, number>());

/** Reads the end of the feed for all calls that wait in one process, at most twice per LOOK_MS. */
const headOf = perApp(({ browse }) => {
    let head = Promise.resolve(0);
    let readAt = Number.NEGATIVE_INFINITY;
    return () => {
        if (performance.now() - readAt >= LOOK_MS / 2) {
            readAt = performance.now();
            // A look that failed finds nothing. The next one asks again.
            head = endOfFeed(browse).catch(() => 0);
        }
        return head;
    };
});

/** GET /v1/events */
export async function listEvents(call: Call<object, EventsQuery, undefined>): Promise<Reply<EventEntry[]>> {
    const { app, query } = call;
    const { workspaceId, accountId } = call.caller as Caller;
    await countInWindow(call, 'reads');
    const { limit = DEFAULT_LIMIT, after: cursor } = query;
    const types = typesOf(query.types?.split(',') ?? []);
    const bound: Json = ['getEvents', workspaceId];
    const after = cursor === undefined ? 0 : await app.cursors.open(bound, cursor);
    if (typeof after !== 'number') throw new Refusal('INVALID_CURSOR');
    const reader = { workspaceId, accountId };
    const page = await readOrWait(call, accountId, after, (from, head) =>
        readEvents(app.browse, reader, { types, after: from, limit }, head),
    );
    return {
        answer: page.events.map(present),
        pagination: {
            limit,
            next_cursor: await app.cursors.seal(bound, page.readTo),
            total: await countEvents(app.browse, reader, types),
        },
    };
}

/**
 * Reads a page; if it is empty, polls until there is an event or the caller's wait ends.
 * @throws Refusal if the key may not read them any more
 */
async function readOrWait(
    call: Call<object, EventsQuery, undefined>,
    accountId: string,
    after: number,
    read: (after: number, head?: number) => Promise<FeedPage>,
): Promise<FeedPage> {
    const { app, gone, endRead } = call;
    const { wait = 0 } = call.query;
    const until = performance.now() + wait * 1000;
    let page = await read(after);
    const waiting = waitingOf(app);
    const others = waiting.get(accountId) ?? 0;
    if (page.events.length > 0 || wait === 0 || others >= MAX_WAITING) return page;
    waiting.set(accountId, others + 1);
    endRead();
    try {
        while (page.events.length === 0 && performance.now() < until && !gone.aborted && !app.isDraining()) {
            await pause(LOOK_MS);
            const head = await headOf(app)();
            if (head > page.readTo) page = await read(page.readTo, head);
        }
        await checkKeyAgain(call);
        return page;
    } finally {
        const left = (waiting.get(accountId) ?? 1) - 1;
        if (left === 0) waiting.delete(accountId);
        else waiting.set(accountId, left);
    }
}

function present({ eventId, type, at, data }: FeedEvent): EventEntry {
    return { event_id: eventId, type, timestamp: at.toISOString(), data: JSON.parse(data) as JsonObject };
}
