import type { ListSort } from '../../domain/package/registry-choices.ts';
import type { Search } from '../../domain/search/search-text.ts';
import type { Json } from '../../domain/types.ts';
import { cutPage, type Db } from '../../platform/db.ts';
import { compose, runComposed, runPlanned } from '../../platform/prepared-query.ts';
import type { Read } from '../../platform/replica.ts';
import type { FoundPage, PageOrder } from '../../platform/row-page.ts';
import { isLeaf, segmentsOf } from './keyset-segments.ts';
import { type Spelt, spell } from './spell.ts';
import { createTotals } from './totals.ts';

/** The sites of a list, and their order. Only sites with a usable version are ever listed. */
export interface ListQuery {
    search: Search | undefined;
    /** Sites whose endpoints match the search, best first. They follow the sites whose name or title matches. */
    described?: readonly string[];
    /** `parent` for all its children, or `parent/child`. */
    category: string | undefined;
    isVerifiedOnly: boolean;
    /** Undefined: relevance for a search, otherwise trending. */
    sort: ListSort | undefined;
}

/** The position belongs to another list, or to a deleted roll-up. */
export class PlaceGone extends Error {}

/** Larger totals are cached. */
const MANY = 5000;

export type Lists = ReturnType<typeof createLists>;

/** Lists the names of sites. @param read must limit the time of queries */
export function createLists(read: Read) {
    const count = createTotals(read, MANY);

    function countMany(query: ListQuery, spelt: Spelt): Promise<number> {
        const { conditions, matches, values } = filtersOf(query, spelt);
        const counts = matches.map((match) => `(select count(*) from sites s where ${[...conditions, match].join(' and ')})`);
        return count({ text: `select ${counts.join(' + ')} as total`, values, types: TYPES });
    }

    return {
        /** @throws PlaceGone */
        async page(query: ListQuery, { limit, after }: PageOrder<Json>): Promise<FoundPage<string, Json>> {
            if (query.search?.terms.length === 0) return { rows: [], next: undefined, total: 0 };
            const { found, total, place } = await read((db) => walk(db, query, after, limit + 1));
            const { shown, last } = cutPage(found, limit);
            return {
                rows: shown.map(({ site }) => site),
                next: last && writePlace({ ...place, segment: last.segment, key: last.key, site: last.site }),
                total: total ?? (await countMany(query, place.spelt)),
            };
        },
    };
}

interface Place {
    /** The id of a roll-up. Null: the latest one. 0: none is needed, or there is none yet. */
    rollup: number | null;
    spelt: Spelt;
    /** The row after which the page begins; `site` null: at the start of the segment. */
    segment: number;
    key: string;
    site: string | null;
}

const BEGINNING: Place = { rollup: null, spelt: [], segment: 0, key: '', site: null };

interface Walked {
    found: Found[];
    /** Undefined if the total has to be counted. */
    total: number | undefined;
    /** Id of the roll-up that defines the order; 0 if there is none yet. */
    rollup: number;
}

interface Found {
    segment: number;
    site: string;
    key: string;
    /** Whether the name or title of the site matches, as opposed to its endpoints. */
    isNameMatch: boolean;
}

/** Reads the next rows from a position. Typing errors are considered only if the first page finds nothing. */
async function walk(db: Db, query: ListQuery, from: Json | undefined, limit: number): Promise<Walked & { place: Place }> {
    const isRanked = query.sort === undefined || query.sort === 'trending';
    const place = from === undefined ? { ...BEGINNING, rollup: isRanked ? null : 0 } : readPlace(from);
    const walked = await walkSegments(db, query, place, limit);
    const asked = { ...walked, place: { ...place, rollup: walked.rollup } };
    if (walked.found.some(({ isNameMatch }) => isNameMatch) || from !== undefined || query.search === undefined) return asked;
    const spelt = await spell(db, query.search);
    if (spelt.length === 0) return asked;
    const meant = { ...asked.place, spelt };
    return { ...(await walkSegments(db, query, meant, limit)), place: meant };
}

/** Maximum number of sites that are sorted in memory and counted at the same time. */
const FEW = 200;

async function walkSegments(db: Db, query: ListQuery, place: Place, limit: number): Promise<Walked> {
    if (query.search === undefined) return readSegments(db, query, place, { limit, among: 'all' });
    if (query.search.terms.every(isBroad)) return readSegments(db, query, place, { limit, among: 'many' });
    const walked = await readSegments(db, query, place, { limit, among: 'few' });
    return (walked.total ?? 0) > FEW ? readSegments(db, query, place, { limit, among: 'many' }) : walked;
}

/** A prefix of one or two letters matches too many words. */
function isBroad({ text }: { text: string }): boolean {
    return text.length < 3;
}

/** The PostgreSQL types of the values in list queries. */
const TYPES = {
    category: 'text',
    described: 'text[]',
    key: 'text',
    limit: 'bigint',
    prefix: 'text',
    rollup: 'bigint',
    search: 'tsquery',
    site: 'text',
};
const TIMEOUT_MS = 5000;
/** Rows of the largest page, and one more that shows whether another page follows. */
const LARGEST = 101;

/** Reads one segment after the other until the limit is reached. */
async function readSegments(
    db: Db,
    query: ListQuery,
    place: Place,
    { limit, among }: { limit: number; among: 'all' | 'few' | 'many' },
): Promise<Walked> {
    const { conditions, matches, values } = filtersOf(query, place.spelt);
    const segments = segmentsOf(query.sort, query).flatMap((segment, number) => {
        if (number < place.segment) return [];
        const isBehind = number === place.segment && place.site !== null;
        const [isCalled = 'true', isDescribed = 'false'] = matches;
        const either = matches.length < 2 ? isCalled : `(${isCalled} or s.site in (select unnest(:described)))`;
        const match =
            segment.has === 'all' ? 'true' : segment.has === 'name' ? isCalled : segment.has === 'endpoints' ? isDescribed : either;
        const where = [
            ...(among === 'few' && segment.has !== 'name' && segment.has !== 'endpoints' ? [] : [match]),
            ...(among === 'few' ? [] : conditions),
            ...(segment.where === undefined ? [] : [segment.where]),
            ...(isBehind ? [segment.after] : []),
        ];
        return [
            `(select ${number} as segment, s.site, ${segment.key ?? "''"} as key, ${isCalled} as "isNameMatch" from ${segment.from ?? ''} ${among === 'few' ? 'found' : 'sites'} s
              where ${where.length === 0 ? 'true' : where.join(' and ')} order by ${segment.order} limit ${among === 'many' ? ':limit' : LARGEST})`,
        ];
    });
    const found = `, found as materialized (
        ${matches.map((match) => `(select ${FOUND} from sites s where ${[...conditions, match].join(' and ')} limit ${FEW + 1})`).join(' union all ')}
    )`;
    const total = { all: tallyOf(query), few: '(select count(*) from found)', many: 'null::bigint' }[among];
    const text = `with rollup as materialized (
             select coalesce(:rollup, (select max(id) from trending_rollups), 0) as id
         )${among === 'few' ? found : ''}
         select f.segment, f.site, f.key, f."isNameMatch", rollup.id as rollup, ${total} as total,
                rollup.id = 0 or exists (select from trending_rollups r where r.id = rollup.id) as is_kept
         from rollup left join (${segments.join(' union all ')}) as f on true limit :limit`;
    const { rollup, key, site } = place;
    const given = { ...values, rollup, prefix: query.search?.names?.prefix, key, site, limit };
    return toWalked(
        await (among === 'many'
            ? runPlanned<FoundColumns>(db, { text, types: TYPES, values: given })
            : runComposed<FoundColumns>(db, compose(text, TYPES), given, TIMEOUT_MS)),
    );
}

interface FoundColumns extends Omit<Found, 'segment'> {
    /** Null, like the other fields of `Found`, if no row was found. */
    segment: number | null;
    rollup: number;
    total: number | null;
    is_kept: boolean;
}

function toWalked(rows: readonly FoundColumns[]): Walked {
    const [first] = rows;
    if (first === undefined) throw new Error('the list query returned no row');
    if (!first.is_kept) throw new PlaceGone();
    const found = rows.flatMap(({ segment, site, key, isNameMatch }) => (segment === null ? [] : [{ segment, site, key, isNameMatch }]));
    return { found: found.toSorted((a, b) => a.segment - b.segment), total: first.total ?? undefined, rollup: first.rollup };
}

/** The columns that segments use. */
const FOUND = 's.site, s.label, s.search, s.published_at, s.verified_at';

/** The conditions of a list, and the ways to match a search, of which a row matches one: by name or title, or by its endpoints. */
function filtersOf({ search, described, category, isVerifiedOnly }: ListQuery, spelt: Spelt) {
    const conditions = ['s.latest_version_id is not null'];
    const matches = ['true'];
    const values: Record<string, unknown> = { described: described ?? [] };
    if (isVerifiedOnly) conditions.push('s.verified_at is not null');
    if (category !== undefined) {
        conditions.push(isLeaf(category) ? 's.intent_category = :category' : 's.parent_category = :category');
        values['category'] = category;
    }
    if (search !== undefined) {
        // For a prefix of one or two letters, the word index would return very many words, while the category has few sites.
        const isUnindexed = category !== undefined && search.terms.every(isBroad);
        matches[0] = isUnindexed ? '(s.search @@ :search) is true' : 's.search @@ :search';
        values['search'] = toQuery(search, spelt);
        if (described !== undefined && described.length > 0) {
            matches.push('(s.site in (select unnest(:described)) and (s.search @@ :search) is not true)');
        }
    }
    return { conditions, matches, values };
}

/** Lexemes contain no character that needs escaping (shared/domain/search/search-text.ts). */
function toQuery({ terms, joined }: Search, spelt: Spelt): string {
    const begins = (text: string) => `'${text}':*`;
    const corrections = new Map(spelt);
    const all = terms.map(({ text, parts, isWhole }) => {
        const written = parts.length === 0 ? [] : [`(${parts.map(begins).join(' & ')})`];
        return `(${[isWhole ? `'${text}'` : begins(text), ...written, ...(corrections.get(text) ?? []).map(begins)].join(' | ')})`;
    });
    return [all.join(' & '), ...(joined === '' ? [] : [begins(joined)])].join(' | ');
}

/** SQL for the total of a list without a search. Publishing maintains this total, so the rows need not be counted. */
function tallyOf({ category, isVerifiedOnly }: ListQuery): string {
    const conditions = ['true'];
    if (isVerifiedOnly) conditions.push('t.is_verified');
    if (category !== undefined) {
        conditions.push(isLeaf(category) ? 't.intent_category = :category' : "split_part(t.intent_category, '/', 1) = :category");
    }
    return `(select coalesce(sum(t.sites), 0)::bigint from site_tallies t where ${conditions.join(' and ')})`;
}

function writePlace({ rollup, spelt, segment, key, site }: Place): Json {
    return [rollup, spelt.map(([term, words]) => [term, [...words]]), segment, key, site];
}

/** Cursors are authenticated, so their content is trusted. */
function readPlace(place: Json): Place {
    const [rollup, spelt, segment, key, site] = place as [number, Spelt, number, string, string];
    return { rollup, spelt, segment, key, site };
}
