import type { Search } from '../domain/search-text.ts';

export const LIST_SORTS = ['trending', 'recently_verified', 'recent', 'name'] as const;
export type ListSort = (typeof LIST_SORTS)[number];

/**
 * A list is walked lane after lane, and each lane along an index: a page costs what it shows, however many rows there are. Within a
 * lane every site stands once, and the lanes of a list have no site in common.
 */
export interface Lane {
    /** What is read beside the sites, which are called `s`; `rollup` is there for every lane. */
    from?: string;
    where?: string;
    /** Whoever fulfils `where` has what is looked for. */
    isFoundAnyway?: true;
    /** What of a row a cursor remembers beside its site, as text. */
    key?: string;
    order: string;
    /** Rows behind `:key` and `:site`. */
    after: string;
}

export interface LaneContext {
    search: Search | undefined;
    category: string | undefined;
    isVerifiedOnly: boolean;
}

/** Whether a category is `parent/child`. */
export function isLeaf(category: string): boolean {
    return category.includes('/');
}

/** The lanes of a list in their order. Without a sort: relevance where something is looked for, otherwise trending. */
export function lanesOf(sort: ListSort | undefined, context: LaneContext): readonly Lane[] {
    if (sort === undefined) return context.search === undefined ? trending(context) : relevance(context.search, context);
    return LANES[sort](context);
}

const LANES: Readonly<Record<ListSort, (context: LaneContext) => readonly Lane[]>> = {
    name: () => [byName()],
    recent: () => [byTime('s.published_at')],
    recently_verified: ({ isVerifiedOnly }) => {
        const verified = { ...byTime('s.verified_at'), where: 's.verified_at is not null' };
        return isVerifiedOnly ? [verified] : [verified, byName('s.verified_at is null')];
    },
    trending,
};

/** Sites called like this first, the others by how much they are used. */
function relevance({ names }: Search, context: LaneContext): Lane[] {
    if (names === undefined) return trending(context);
    const column = names.of === 'site' ? 's.site' : 's.label';
    const isNamed = `(${column} >= :prefix and ${column} < :prefix || chr(1114111))`;
    const named: Lane =
        names.of === 'site'
            ? { ...byName(isNamed), isFoundAnyway: true }
            : {
                  where: isNamed,
                  isFoundAnyway: true,
                  key: 's.label',
                  order: 's.label, s.site',
                  after: '(s.label, s.site) > (:key, :site)',
              };
    return [named, ...trending(context).map((lane) => ({ ...lane, where: both(lane.where, `not ${isNamed}`) }))];
}

/** Of the roll-up that the list began with: a later one does not move rows from one page to another. */
function trending({ category }: LaneContext): Lane[] {
    // A site has the rank under the category that it had then; one that has moved since stands among those without a rank.
    const ofCategory = category !== undefined && isLeaf(category) ? ' and t.intent_category = :category' : '';
    const ofRollUp = `t.rollup_id = (select id from rollup) and t.period = '7d'${ofCategory}`;
    return [
        {
            from: 'trending_sites t,',
            where: `${ofRollUp} and t.site = s.site`,
            key: 't.rank::text',
            order: 't.rank',
            after: 't.rank > cast(:key as integer)',
        },
        byName(`not exists (select from trending_sites t where ${ofRollUp} and t.site = s.site)`),
    ];
}

function byName(where?: string): Lane {
    return { ...(where === undefined ? {} : { where }), order: 's.site', after: 's.site > :site' };
}

/** Latest first. Times are remembered to the microsecond, which JavaScript's dates do not hold. */
function byTime(column: string): Lane {
    return {
        key: `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
        order: `${column} desc, s.site`,
        after: `${column} <= cast(:key as timestamptz) and (${column} < cast(:key as timestamptz) or s.site > :site)`,
    };
}

function both(one: string | undefined, other: string): string {
    return one === undefined ? other : `${one} and ${other}`;
}
