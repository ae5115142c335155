import type { ListSort } from '../../domain/package/registry-choices.ts';
import type { Search } from '../../domain/search/search-text.ts';

/** Segments of a list are read in turn, each along an index, so the cost of a page depends on its size. Each site is in one segment. */
interface Segment {
    /** Tables in addition to the sites `s`. All segments can use `rollup`. */
    from?: string;
    where?: string;
    /** How its sites match the search: `all` by `where`; by `name` or title; only by `endpoints`. Undefined: by name, title or endpoints. */
    has?: 'all' | 'name' | 'endpoints';
    /** SQL of the sort key that the cursor contains in addition to the site. */
    key?: string;
    order: string;
    /** SQL condition for the rows after `:key` and `:site`. */
    after: string;
}

interface SegmentContext {
    search: Search | undefined;
    category: string | undefined;
    isVerifiedOnly: boolean;
}

/** Whether a category has the form `parent/child`. */
export function isLeaf(category: string): boolean {
    return category.includes('/');
}

/** The segments of a list in their order. The default order is relevance for a search, otherwise trending. */
export function segmentsOf(sort: ListSort | undefined, context: SegmentContext): readonly Segment[] {
    if (sort === undefined) return context.search === undefined ? trendingSegments(context) : relevance(context.search, context);
    return SEGMENTS[sort](context);
}

const SEGMENTS: Readonly<Record<ListSort, (context: SegmentContext) => readonly Segment[]>> = {
    name: () => [byName()],
    recent: () => [byTime('s.published_at')],
    recently_verified: ({ isVerifiedOnly }) => {
        const verified = { ...byTime('s.verified_at'), where: 's.verified_at is not null' };
        return isVerifiedOnly ? [verified] : [verified, byName('s.verified_at is null')];
    },
    trending: trendingSegments,
};

/** First sites whose name begins with the text, then others whose name or title matches, by use, then endpoints by relevance. */
function relevance({ names }: Search, context: SegmentContext): Segment[] {
    const byNameOrTitle = trendingSegments(context).map((segment): Segment => ({ ...segment, has: 'name' }));
    if (names === undefined) return [...byNameOrTitle, DESCRIBED];
    const column = names.of === 'site' ? 's.site' : 's.label';
    const isNamed = `(${column} >= :prefix and ${column} < :prefix || chr(1114111))`;
    const named: Segment =
        names.of === 'site'
            ? { ...byName(isNamed), has: 'all' }
            : {
                  where: isNamed,
                  has: 'all',
                  key: 's.label',
                  order: 's.label, s.site',
                  after: '(s.label, s.site) > (:key, :site)',
              };
    return [named, ...[...byNameOrTitle, DESCRIBED].map((segment) => ({ ...segment, where: andWhere(segment.where, `not ${isNamed}`) }))];
}

const DESCRIBED: Segment = {
    from: 'unnest((select :described)) with ordinality as d (described, place),',
    where: 'd.described = s.site',
    has: 'endpoints',
    key: 'd.place::text',
    order: 'd.place',
    after: 'd.place > cast(:key as bigint)',
};

/** Uses the roll-up with which the list began, so that a later roll-up does not move rows between pages. */
function trendingSegments({ category }: SegmentContext): Segment[] {
    // A rank belongs to the category at the time of the roll-up. A site that changed its category since is listed without a rank.
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

function byName(where?: string): Segment {
    return { ...(where === undefined ? {} : { where }), order: 's.site', after: 's.site > :site' };
}

/** Newest first. Times have microseconds, which JavaScript dates cannot represent. */
function byTime(column: string): Segment {
    return {
        key: `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
        order: `${column} desc, s.site`,
        after: `${column} <= cast(:key as timestamptz) and (${column} < cast(:key as timestamptz) or s.site > :site)`,
    };
}

function andWhere(one: string | undefined, other: string): string {
    return one === undefined ? other : `${one} and ${other}`;
}
