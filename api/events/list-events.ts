import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import type { EventsQuery } from '../../shared/contracts/events.ts';
import type { Json } from '../../shared/domain/types.ts';
import { eventData, isAboutJob, readJobsOfEvents, withField } from '../../shared/fetch/event-data.ts';
import { createCounts } from '../../shared/platform/counts.ts';
import { PAGE_BYTES } from '../../shared/platform/db.ts';
import { eachInTurn } from '../../shared/platform/turns.ts';
import { Refusal } from '../../shared/refusals.ts';
import {
    countEvents,
    endOfFeed,
    type FeedEvent,
    type FeedPage,
    readConcerned,
    readEvents,
    typesOf,
} from '../../shared/store/events/event-feed.ts';
import { listInTurn } from '../admission/long-lists.ts';
import { perApp } from '../admission/per-app.ts';
import { textPage } from '../answers/paging.ts';
import { checkKeyAgain } from '../auth/api-key.ts';
import type { Call, Reply } from '../call.ts';

const LOOK_MS = 500;
/** Calls of one account that may wait in one process; further calls are answered at once. */
const MAX_WAITING = 50;
const DEFAULT_LIMIT = 20;

const waitingOf = perApp(() => createCounts());

interface Waiter {
    workspaceId: string;
    accountId: string;
    /** Whether there may be events for it since its last read. */
    hasNews: boolean;
}

/**
 * Polls for new events on behalf of all calls that wait in one process, at most twice per LOOK_MS, and notes which calls they are for. If
 * each call polled for itself, a few free accounts would keep all connections of browse requests busy.
 */
const feedOf = perApp(({ browse }) => {
    const waiters = new Set<Waiter>();
    let head: number | undefined;
    let looking = Promise.resolve();
    let lookedAt = Number.NEGATIVE_INFINITY;

    async function look(): Promise<void> {
        const [asked, from] = [new Set(waiters), head];
        const end = await endOfFeed(browse);
        const ids = [...new Set([...asked].flatMap(({ workspaceId, accountId }) => [workspaceId, accountId]))];
        const concerned = from === undefined || end <= from ? [] : await readConcerned(browse, { ids, after: from, head: end });
        const found = new Set(concerned);
        for (const waiter of waiters) {
            // The query did not cover a call that was added meanwhile, nor events before the first look. These calls read for themselves.
            if (from === undefined || !asked.has(waiter) || found.has(waiter.workspaceId) || found.has(waiter.accountId))
                waiter.hasNews = true;
        }
        head = waiters.size === 0 ? undefined : end;
    }

    return {
        /** Includes this call in further looks. Returns the position up to which earlier looks have read. */
        add(waiter: Waiter): number {
            waiters.add(waiter);
            return head ?? 0;
        },
        remove(waiter: Waiter) {
            waiters.delete(waiter);
            // The next call that waits begins with a read of its own, so the events until then need no look.
            if (waiters.size === 0) head = undefined;
        },
        /** The position up to which `hasNews` is known; 0 if it is not known yet. */
        async head(): Promise<number> {
            if (performance.now() - lookedAt >= LOOK_MS / 2) {
                lookedAt = performance.now();
                // If a look fails, the next one covers its events. Looks run one after another, so the head never goes back.
                looking = looking.then(look).catch(() => {});
            }
            await looking;
            return head ?? 0;
        },
    };
});

/** GET /v1/events */
export async function listEvents(call: Call<object, EventsQuery, undefined>): Promise<Reply<never>> {
    const { app, query } = call;
    const { workspaceId, accountId } = call.caller;
    const { limit = DEFAULT_LIMIT, after: cursor } = query;
    const types = typesOf(query.types?.split(',') ?? []);
    const bound: Json = ['getEvents', workspaceId];
    const after = cursor === undefined ? 0 : await app.cursors.open(bound, cursor);
    if (typeof after !== 'number') throw new Refusal('INVALID_CURSOR');
    const reader = { workspaceId, accountId };
    const page = await readOrWait(call, reader, after, (from, head) =>
        listInTurn(call, () => readEvents(app.browse, reader, { types, after: from, limit }, head)),
    );
    return textPage(await presentEvents(app, page.events), {
        limit,
        next_cursor: await app.cursors.seal(bound, page.readTo),
        total: await listInTurn(call, () => countEvents(app.browse, reader, types)),
    });
}

/** Reads a page; if it is empty, polls until there is an event or the wait ends. @throws Refusal if the key may not read any more */
async function readOrWait(
    call: Call<object, EventsQuery, undefined>,
    { workspaceId, accountId }: { workspaceId: string; accountId: string },
    after: number,
    read: (after: number, head?: number) => Promise<FeedPage>,
): Promise<FeedPage> {
    const { app, gone, endRead } = call;
    const { wait = 0 } = call.query;
    const until = performance.now() + wait * 1000;
    const waiting = waitingOf(app);
    if (wait === 0 || waiting.of(accountId) >= MAX_WAITING) return read(after);
    waiting.add(accountId, 1);
    const feed = feedOf(app);
    const waiter: Waiter = { workspaceId, accountId, hasNews: false };
    // Added before the first read, so that no event is missed between them.
    const known = feed.add(waiter);
    try {
        let page = await read(after);
        if (page.events.length > 0) return page;
        endRead();
        // The read may have used a replica that is behind that position.
        if (page.readTo < known) waiter.hasNews = true;
        while (page.events.length === 0 && performance.now() < until && !gone.aborted && !app.isDraining()) {
            await pause(LOOK_MS);
            const head = await feed.head();
            if (head <= page.readTo) continue;
            const { hasNews } = waiter;
            waiter.hasNews = false;
            page = hasNews ? await read(page.readTo, head) : { events: [], readTo: head };
        }
        await checkKeyAgain(call);
        return page;
    } finally {
        feed.remove(waiter);
        waiting.add(accountId, -1);
    }
}

/** Events whose jobs are read in one query. */
const READ_AT_ONCE = 16;

/**
 * Events as JSON texts, with the same content as in webhooks. In a long page the last results and diffs are left out, as webhooks leave out
 * large results.
 */
async function presentEvents(app: App, events: readonly FeedEvent[]): Promise<string[]> {
    const texts: string[] = [];
    let left = PAGE_BYTES;
    for (let from = 0; from < events.length; from += READ_AT_ONCE) {
        const some = events.slice(from, from + READ_AT_ONCE);
        const jobs = await readJobsOfEvents(app.browse, some.map(({ about }) => about).filter(isAboutJob), left > 0);
        const byId = new Map(jobs.map((job) => [job?.jobId, job]));
        const present = async ({ eventId, type, at, data, about }: FeedEvent) => {
            const job = isAboutJob(about) ? byId.get(about) : undefined;
            const full = await eventData(app, app.browse, { data, about: left > 0 ? about : null }, job);
            left -= full.length;
            const shown = job === undefined ? full : withErrorCode(full, data);
            return `{"event_id":${JSON.stringify(eventId)},"type":"${type}","timestamp":"${at.toISOString()}","data":${shown}}`;
        };
        texts.push(...(await eachInTurn(some, present)));
    }
    return texts;
}

/** Adds `code` to the job's fields, for readers that look for the error code there. */
function withErrorCode(job: string, data: string): string {
    const { code = null } = JSON.parse(data) as { code?: string | null };
    return withField(job, 'code', JSON.stringify(code));
}
