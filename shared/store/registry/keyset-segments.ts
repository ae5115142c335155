import type { Search } from '../../domain/search/search-text.ts';

export const LIST_SORTS = ['trending', 'recently_verified', 'recent', 'name'] as const;
export type ListSort = (typeof LIST_SORTS)[number];

/**
 * A list consists of segments, which are read one after the other. Each segment follows an index, so a page costs only what it shows. A
 * site appears once in a segment, and in one segment only.
 */
interface Segment {
    /** Tables beside the sites `s`; `rollup` is there for every segment. */
    from?: string;
    where?: string;
    /**
     * Which sites it has where something is looked for: all that `where` lets through, those that are called so, or those that are described so
     * and not called so. Undefined: both of these.
     */
    has?: 'all' | 'called' | 'described';
    /** SQL of the sort key in the cursor, beside the site. */
    key?: string;
    order: string;
    /** Rows behind `:key` and `:site`. */
    after: string;
}

interface SegmentContext {
    search: Search | undefined;
    category: string | undefined;
    isVerifiedOnly: boolean;
}

/** Whether a category is `parent/child`. */
export function isLeaf(category: string): boolean {
    return category.includes('/');
}

/** The segments of a list in their order. Without a sort: relevance where something is looked for, otherwise trending. */
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

/** Sites called like this first, others that are called so by how much they are used, then those whose endpoints do it by how well they fit. */
function relevance({ names }: Search, context: SegmentContext): Segment[] {
    const called = trendingSegments(context).map((segment): Segment => ({ ...segment, has: 'called' }));
    if (names === undefined) return [...called, DESCRIBED];
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
    return [named, ...[...called, DESCRIBED].map((segment) => ({ ...segment, where: andWhere(segment.where, `not ${isNamed}`) }))];
}

const DESCRIBED: Segment = {
    from: 'unnest((select :described)) with ordinality as d (described, place),',
    where: 'd.described = s.site',
    has: 'described',
    key: 'd.place::text',
    order: 'd.place',
    after: 'd.place > cast(:key as bigint)',
};

/** Of the roll-up that the list began with: a later one does not move rows from one page to another. */
function trendingSegments({ category }: SegmentContext): Segment[] {
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

function byName(where?: string): Segment {
    return { ...(where === undefined ? {} : { where }), order: 's.site', after: 's.site > :site' };
}

/** Latest first. Times are remembered to the microsecond, which JavaScript's dates do not hold. */
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
