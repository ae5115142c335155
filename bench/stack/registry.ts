import { createHash } from 'node:crypto';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { SEARCH_RULES, searchEntry } from '../../shared/domain/search/search-text.ts';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { openDb } from '../../shared/platform/db.ts';
import { addTallies, addWords } from '../../shared/store/registry/search-index.ts';

/** A site of a generated registry, which is the same each time. */
export interface MadeSite {
    site: string;
    title: string;
    /** Words of its title. */
    words: string[];
}

/** Rows per statement. */
const CHUNK = 2000;
/** One in this many sites is fetched each day. */
const BUSY_EVERY = 100;
const WORDS = 6000;

/**
 * Fills a migrated database with sites of 3 to 10 endpoints each, directly into its tables. A third is verified. One in a hundred has a
 * week of traffic on each endpoint. Names and titles consist of 6,000 words, of which the first are common.
 */
export async function fillRegistry(url: string, count: number): Promise<MadeSite[]> {
    const made = Array.from({ length: count }, (_, index) => aSite(index));
    const db = openDb({ url, poolSize: 2, acquireTimeoutMs: 60_000 });
    try {
        for (let from = 0; from < count; from += CHUNK) {
            const rows = made.slice(from, from + CHUNK).map(({ site, title }, place) => rowOf(from + place, site, title));
            await db.raw(FILL, { rules: SEARCH_RULES, rows: JSON.stringify(rows) });
            await addWords(
                db,
                rows.flatMap(({ lexemes }) => lexemes),
            );
        }
        await db.raw("select setval(pg_get_serial_sequence('versions', 'id'), ?)", [count]);
        await db.raw(TRAFFIC, [BUSY_EVERY]);
        await db.raw('insert into site_durations select site, day, bucket, sum(successes) from endpoint_durations group by 1, 2, 3');
        await addTallies(db);
        await db.raw('vacuum full site_tallies');
        await db.raw('vacuum analyze');
    } finally {
        await db.destroy();
    }
    return made;
}

const FILL = `
    with given as (
        select * from json_to_recordset(cast(:rows as json)) as r (
            place integer, site text, title text, category text, label text, lexemes text[], hash text, document json, summary json,
            is_verified boolean)
    ), domains as (
        insert into domains (registrable) select site from given
    ), maintainers as (
        insert into maintainers (registrable, workspace_id) select site, 'wsp_routebook' from given
    ), made as (
        insert into sites (site, registrable, versions, latest_version_id, title, description, intent_category, published_at, verified_at,
                           label, search, search_rules)
        select site, site, 1, place + 1, title, 'Made up for the bench.', category, app_now() - place * interval '1 minute',
               case when is_verified then app_now() - place * interval '30 seconds' end, label, array_to_tsvector(lexemes), :rules
        from given
    ), versions as (
        insert into versions (id, site, version, version_hash, document, summary, change, changes, origin,
                              published_by_workspace, hosts) overriding system value
        select place + 1, site, 1, hash, document, summary, 'minor', '{"added": [], "removed": [], "changed": [], "hosts_added": []}', 'starter',
               'wsp_routebook', array[site] from given
    )
    insert into latest_spells (site, version_id) select site, place + 1 from given`;

const TRAFFIC = `
    with busy as (
        select s.site, e->>'name' as endpoint from sites s join versions v on v.id = s.latest_version_id, json_array_elements(v.summary) as e
        where v.id % ? = 0
    ), days as (
        insert into endpoint_days select site, endpoint, (app_now() at time zone 'UTC')::date - d, 90, 10, app_now() - d * interval '1 day'
        from busy, generate_series(0, 7) as d
    )
    insert into endpoint_durations select site, endpoint, (app_now() at time zone 'UTC')::date - d, b, 9
    from busy, generate_series(0, 7) as d, generate_series(20, 29) as b`;

function aSite(index: number): MadeSite {
    const draw = numbers(index);
    const words = [common(draw), common(draw), common(draw)].map(word);
    const label = `${word(common(draw))}${word(common(draw))}`;
    return {
        site: `${label}${index.toString(36)}.test`,
        title: words.map((text) => text[0]?.toUpperCase() + text.slice(1)).join(' '),
        words,
    };
}

function rowOf(place: number, site: string, title: string) {
    const draw = numbers(place + 1_000_003);
    const { children } = CATEGORIES[draw(CATEGORIES.length)] ?? { children: [] };
    const document: PackageDocument = {
        format: 'routebook/1',
        site,
        title,
        description: 'Made up for the bench.',
        intent_category: children[draw(children.length)]?.path ?? 'commerce',
        endpoints: Array.from({ length: 3 + draw(8) }, (_, index) => endpoint(site, index)),
    };
    const summary = document.endpoints.map(({ name, method, description }) => ({
        name,
        kind: 'api_call',
        method,
        description,
        hosted: true,
    }));
    const hash = createHash('sha256').update(site).digest('hex');
    const { label, lexemes } = searchEntry(site, title);
    const category = document.intent_category;
    return { place, site, title, category, label, lexemes, hash, document, summary, is_verified: place % 3 === 0 };
}

const THINGS = ['product', 'price', 'review', 'seller', 'order', 'category', 'offer', 'stock', 'image', 'shipment'];

/** One endpoint of a generated site, as large as real ones. @param index its number within the site */
export function endpoint(site: string, index: number): PackageEndpoint {
    const thing = THINGS[index % THINGS.length] ?? 'thing';
    const name = index < THINGS.length ? `get_${thing}` : `get_${thing}_${index}`;
    return {
        name,
        description: `Reads one ${thing} with everything that the site shows of it.`,
        method: 'GET',
        url: `https://${site}/api/${name}/{id}`,
        headers: { accept: 'application/json' },
        params: [
            { name: 'id', source: 'path', required: true, description: `Number of the ${thing}.`, schema: { type: 'integer', minimum: 1 } },
            {
                name: 'language',
                source: 'query',
                required: false,
                description: 'Language of the texts.',
                schema: { type: 'string', enum: ['en', 'de'] },
            },
        ],
        response: {
            type: 'json',
            select: { items: 'result[].{id: id, name: title}' },
            schema: { type: 'object', required: ['items'], properties: { items: { type: 'array' } } },
        },
        examples: [{ params: { id: 1 } }],
    };
}

/** A random number of a word. The first words are much more frequent than the last. */
function common(draw: (below: number) => number): number {
    return Math.floor(WORDS * (draw(1_000_000) / 1_000_000) ** 2.5);
}

const SYLLABLES =
    'ba be bi bo bu da de di do du fa fe fi fo ga ge go ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi wa we za zo'.split(
        ' ',
    );

/** A word of three syllables, different for each number below 6,000. */
export function word(number: number): string {
    const base = SYLLABLES.length;
    const spread = (number * 7919) % base ** 3;
    return [spread % base, Math.floor(spread / base) % base, Math.floor(spread / base ** 2)].map((place) => SYLLABLES[place]).join('');
}

/** A pseudo-random generator with a fixed seed (mulberry32). */
export function numbers(seed: number): (below: number) => number {
    let state = (seed + 1) * 0x9e3779b1;
    return (below) => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
}
