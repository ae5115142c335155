import { EVENT_TYPES, type EventType, prefixOf } from '../../domain/events/event-types.ts';
import { type Db, MAX_COUNTED } from '../../platform/db.ts';

/** Number of hours for which events are listed. They are stored for as long as their deliveries. */
const LISTED_HOURS = 24;
/** Number of days after its last successful fetch of a site for which a workspace receives events of that site. */
export const SITE_EVENT_DAYS = 30;
/** A workspace that reads events: its own, its account's, and those of sites that it maintains or fetched. */
interface Reader {
    workspaceId: string;
    accountId: string;
}

export interface FeedEvent {
    eventId: string;
    type: EventType;
    at: Date;
    /** JSON text. */
    data: string;
    about: string | null;
}

export interface FeedPage {
    events: FeedEvent[];
    /** The position up to which all events were read. */
    readTo: number;
}

/**
 * Raw: each audience has its own index and is read separately. No event has two audiences. The sites of a workspace are found first, and
 * their events before the order ("offset 0"): the planner read all events of all sites in order, and checked each.
 */
const OWN = `
    select e.id, e.type, e.at, e.data, e.about, e.position from events e
    where e.position > :after and e.position <= :head and e.at > app_now() - interval '${LISTED_HOURS} hours' and e.type = any(:types)`;
const AUDIENCES = [
    `${OWN} and e.workspace_id = :workspaceId`,
    `${OWN} and e.account_id = :accountId`,
    `select * from (${OWN} and e.site = any(array(
        select c.site from site_callers c
            where c.workspace_id = :workspaceId and c.day > (app_now() - interval '${SITE_EVENT_DAYS} days')::date
        union
        select s.site from maintainers m join sites s on s.registrable = m.registrable where m.workspace_id = :workspaceId
    )) offset 0) of_sites`,
];
const READ = `
    select id as "eventId", type, at, data, about, position
    from (${AUDIENCES.map((audience) => `(${audience} order by position limit :limit)`).join(' union all ')}) own
    order by position limit :limit`;
const COUNT = `select count(*) as count from (${AUDIENCES.map((audience) => `(${audience})`).join(' union all ')} limit ${MAX_COUNTED}) own`;

/** The position of the latest event; 0 if there is none. */
export async function endOfFeed(db: Db): Promise<number> {
    const row = await db('events').whereNotNull('position').max({ head: 'position' }).first();
    return row?.head ?? 0;
}

/** Reads the events of a workspace after a position, oldest first. @param head the end of the feed, if it was read before */
export async function readEvents(
    db: Db,
    { workspaceId, accountId }: Reader,
    { types, after, limit }: { types: readonly EventType[]; after: number; limit: number },
    head?: number,
): Promise<FeedPage> {
    head ??= await endOfFeed(db);
    if (head <= after) return { events: [], readTo: after };
    const { rows } = await db.raw<{ rows: (FeedEvent & { position: number })[] }>(READ, {
        workspaceId,
        accountId,
        types: [...types],
        after,
        head,
        limit,
    });
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return { events: rows, readTo: last?.position ?? head };
}

/** Raw: looks up only the given ids, because an event of a site may concern many other workspaces. */
const CONCERNED = `
    with news as materialized (
        select workspace_id, account_id, site from events where position > :after and position <= :head
    )
    select workspace_id as id from news where workspace_id = any(:ids)
    union
    select account_id from news where account_id = any(:ids)
    union
    select c.workspace_id from news n join site_callers c on c.site = n.site and c.workspace_id = any(:ids)
    union
    select m.workspace_id from news n join sites s on s.site = n.site join maintainers m on m.registrable = s.registrable
        where m.workspace_id = any(:ids)`;

/** Those of the given workspaces and accounts that events between two positions may concern. */
export async function readConcerned(
    db: Db,
    { ids, after, head }: { ids: readonly string[]; after: number; head: number },
): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(CONCERNED, { ids: [...ids], after, head });
    return rows.map(({ id }) => id);
}

/** Counts the events of the last day that a workspace receives, at most 100,000. */
export async function countEvents(db: Db, { workspaceId, accountId }: Reader, types: readonly EventType[]): Promise<number> {
    const head = await endOfFeed(db);
    const { rows } = await db.raw<{ rows: [{ count: number }] }>(COUNT, { workspaceId, accountId, types: [...types], after: 0, head });
    return rows[0].count;
}

/** Expands prefixes such as `schema.*` to types. An empty list means all types. */
export function typesOf(names: readonly string[]): EventType[] {
    if (names.length === 0) return EVENT_TYPES;
    return EVENT_TYPES.filter((type) => names.includes(type) || names.includes(prefixOf(type)));
}
