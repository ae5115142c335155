import { indexPackage } from '../../shared/domain/find/index-package.ts';
import type { Phrases } from '../../shared/domain/find/phrases.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { openDb } from '../../shared/platform/db.ts';
import { shippedPhrases, shippedWordVectors } from '../../shared/platform/phrases.ts';
import { type MadeSite, numbers, word } from './registry.ts';

/** Endpoints with subjects for a generated registry, to search by task. They are the same each time. */

const ENDPOINTS_OF_A_SITE = 10;
/** Sites per statement. */
const CHUNK = 200;

/**
 * Writes ten endpoints of each of these sites into the index. Their words are six phrases of the dictionary per site, and generated words
 * of which the first are much more frequent than the last.
 */
export async function fillEndpoints(url: string, sites: readonly MadeSite[]): Promise<void> {
    const dictionary = shippedPhrases();
    const vectors = shippedWordVectors();
    const subjects = subjectsOf(dictionary);
    const known = new Set<string>();
    const db = openDb({ url, poolSize: 1, acquireTimeoutMs: 60_000 });
    try {
        await db.raw('truncate sites_to_index');
        await db.raw('drop index endpoints_words');
        for (let from = 0; from < sites.length; from += CHUNK) {
            const rows = sites.slice(from, from + CHUNK).flatMap(({ site }, place) => {
                const { endpoints, words } = indexPackage(
                    JSON.stringify(packageOf(site, aboutOf(from + place, subjects))),
                    dictionary,
                    vectors,
                );
                for (const one of words) known.add(one);
                return endpoints.map((endpoint) => ({ ...endpoint, site }));
            });
            await db.raw(FILL, { rows: JSON.stringify(rows) });
        }
        await db.raw('insert into endpoint_words (word) select unnest(?::text[])', [[...known].toSorted()]);
        await db.raw('create index endpoints_words on endpoints using gin (search) with (fastupdate = off)');
        await db.raw('vacuum analyze');
    } finally {
        await db.destroy();
    }
}

const FILL = `
    with given as materialized (
        select nextval('endpoint_ids') as id, e.*
        from json_to_recordset(cast(:rows as json)) as e (
            site text, place integer, name text, kind text, effect text, search text, brevity real, "needsId" boolean, direction text, entry text)
    ), entered as (
        insert into endpoint_entries (endpoint_id, entry) select id, entry::json from given
    )
    insert into endpoints (id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity,
                           needs_id, direction)
    select e.id, s.site, s.registrable, s.latest_version_id, e.place, e.name, e.kind, e.effect, s.intent_category, s.verified_at is not null,
           case when hashtext(s.site || '/' || e.name) & 63 = 0 then 0 when hashtext(s.site || '/' || e.name) & 7 = 0 then 1 else 2 end,
           e.search::tsvector, e.brevity, e."needsId", e.direction
    from given e join sites s on s.site = e.site`;

/** The subjects of a site. */
interface About {
    phrases: string[];
    words: string[];
}

/** Phrases of the dictionary that name a subject, in its order. */
function subjectsOf({ phrases, kinds }: Phrases): string[] {
    const all = [...phrases.values()].flat();
    return all.filter(({ ideas }) => ideas.some((idea) => kinds.get(idea) === 'what')).map(({ stems }) => stems.join(' '));
}

/** Phrases that are close together in the dictionary, since those belong to one category. */
function aboutOf(index: number, subjects: readonly string[]): About {
    const draw = numbers(index + 77);
    const first = draw(subjects.length);
    return {
        phrases: Array.from({ length: 6 }, () => subjects[(first + draw(60)) % subjects.length] ?? ''),
        words: Array.from({ length: 8 }, () => commonWord(draw)),
    };
}

function commonWord(draw: (below: number) => number): string {
    return word(Math.floor(6000 * (draw(1_000_000) / 1_000_000) ** 2.5));
}

const VERBS = ['search', 'list', 'get', 'find', 'read', 'latest', 'count', 'compare', 'check', 'export'];

function packageOf(site: string, { phrases, words }: About): PackageDocument {
    const draw = numbers(site.length + (words[0]?.charCodeAt(0) ?? 0));
    const one = (of: readonly string[]) => of[draw(of.length)] ?? '';
    const field = (text: string) => text.replaceAll(/[^a-z0-9]+/gi, '_');
    const endpoints = VERBS.slice(0, ENDPOINTS_OF_A_SITE).map((verb, place): PackageEndpoint => {
        const subject = phrases[place % phrases.length] ?? '';
        const other = one(phrases);
        const fields = ['id', 'name', field(subject), field(other), commonWord(draw), commonWord(draw), one(words)];
        return {
            name: `${verb}_${field(subject)}`.slice(0, 60),
            description: `The ${subject} of ${one(words)} with ${other}, ${commonWord(draw)} and ${commonWord(draw)}: ${one(words)} by ${commonWord(draw)} for each ${commonWord(draw)}.`,
            method: 'GET',
            url: `https://${site}/${place}/{id}`,
            params: [
                { name: 'id', source: 'path', required: true, description: `Number of the ${subject}.`, schema: { type: 'integer' } },
                { name: field(one(words)), source: 'query', required: false, description: `Only those with ${commonWord(draw)}.` },
            ],
            response: {
                type: 'json',
                schema: {
                    type: 'object',
                    properties: {
                        items: {
                            type: 'array',
                            items: { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])) },
                        },
                    },
                },
            },
            examples: [{ params: { id: 1 } }],
        };
    });
    const { children = [] } = CATEGORIES[draw(CATEGORIES.length)] ?? {};
    return {
        format: 'routebook/1',
        site,
        title: `${words[0]} ${words[1]} ${phrases[0]}`,
        description: `The ${phrases[1]} of ${words[2]} and ${words[3]}.`,
        intent_category: children[draw(children.length)]?.path ?? 'commerce',
        endpoints,
    };
}

const BEGINNINGS = ['find the', 'get me', 'how much is', 'which', 'show all'];

/** Returns a generator of realistic tasks: one to three subjects of one site, sometimes mistyped, and sometimes about nothing. */
export function taskMaker(sites: number): (draw: (below: number) => number) => string {
    const subjects = subjectsOf(shippedPhrases());
    return (draw) => {
        const { phrases, words } = aboutOf(draw(sites), subjects);
        const parts = [phrases[draw(6)], ...(draw(2) === 0 ? [phrases[draw(6)]] : []), ...words.slice(0, draw(3))];
        const text = `${BEGINNINGS[draw(BEGINNINGS.length)]} ${parts.join(draw(2) === 0 ? ' of ' : ' and ')}`;
        return draw(10) === 0 ? misspell(text, draw) : text;
    };
}

/** Swaps two adjacent letters. */
function misspell(text: string, draw: (below: number) => number): string {
    const place = 1 + draw(text.length - 2);
    return `${text.slice(0, place)}${text[place + 1]}${text[place]}${text.slice(place + 2)}`;
}
