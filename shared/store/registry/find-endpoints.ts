import { candidatesOf, LEAST_LISTED } from '../../domain/find/candidates.ts';
import { fitting, fuse } from '../../domain/find/fuse.ts';
import { bestFirst, inARow, type Slot, spread } from '../../domain/find/order.ts';
import type { Phrases } from '../../domain/find/phrases.ts';
import { readTask, type TaskPart } from '../../domain/find/task.ts';
import { correctTypo, type Search, unknownWords, type WordCounts, weigh } from '../../domain/find/weigh.ts';
import { directionOfTask, type WordVectors, withNearness } from '../../domain/find/word-vectors.ts';
import type { Db } from '../../platform/db.ts';
import type { Read } from '../../platform/replica.ts';
import { createEndpointWordCounts } from './endpoint-words.ts';
import { type FindFilters, type FoundEndpoint, type FoundRow, findByWords, findNearest } from './find-statements.ts';
import { withoutRefused } from './refused-endpoints.ts';

interface FoundList {
    /** Undefined if no endpoint contains a word of the task. */
    search: Search | undefined;
    /** Best first, at most 200; at most three of a registrable domain in each ten, unless the filter names a site. */
    found: Slot<FoundEndpoint>[];
    /** Whether vectors contributed to the result. */
    isByMeaning: boolean;
}

/** The embedding of a task. If it arrives too late, the search uses only words. */
export interface Meaning {
    vector: Promise<readonly number[] | undefined>;
    /** By `performance.now()`. After this time the search uses only words. */
    deadline: number;
}

/** A parsed task, with the frequency of its words. */
interface Understood {
    search: Search;
    counts: WordCounts;
}

export interface Finder {
    /** @param meaning the vector of the task; if it is there in time, endpoints near it are ranked together with the others */
    find(task: string, filters: FindFilters, meaning?: Meaning): Promise<FoundList>;
}

/** @param read must limit the time of queries @param phrases and `vectors` are called for the first task */
export function createFinder(read: Read, phrases: () => Phrases, vectors: () => WordVectors): Finder {
    const words = createEndpointWordCounts(read);

    /** Parses a task. Its words are weighted by their frequency. Unknown words are replaced by similar ones. */
    async function understand(task: string): Promise<Understood> {
        const dictionary = phrases();
        const understood = readTask(task, dictionary);
        const counts = await words.count(understood.parts.flatMap(wordsOfPart));
        const strange = unknownWords(understood, counts);
        if (strange.length === 0) return { search: weigh(understood, counts), counts };
        const resembling = await words.resembling(strange);
        const meant = new Map(strange.map((word) => [word, correctTypo(word, resembling.get(word) ?? [], dictionary)]));
        const corrected = new Map([...meant].filter((entry): entry is [string, string] => entry[1] !== undefined));
        if (corrected.size === 0) return { search: weigh(understood, counts), counts };
        const again = readTask(task, dictionary, corrected);
        const recounted = await words.count(again.parts.flatMap(wordsOfPart));
        return { search: weigh(again, recounted, new Set(corrected.values())), counts: recounted };
    }

    /** The endpoints with words of the task, best first. Those that match few words are dropped if their meaning is far from the task's. */
    async function byWords(
        task: string,
        { search, counts }: Understood,
        filters: FindFilters,
    ): Promise<{ search: Search | undefined; ordered: FoundEndpoint[] }> {
        const candidates = candidatesOf(search, counts);
        if (candidates === undefined) return { search: undefined, ordered: [] };
        const rows = await read(async (db) => withoutRefused(db, await findByWords(db, search, candidates, filters), policiesOf));
        // An endpoint may be found twice: among those with nearly all words, and among those with some.
        const distinct = [...new Map(rows.map((row) => [row.id, row])).values()];
        const scored = withNearness(directionOfTask(task, phrases(), vectors()), distinct);
        return { search, ordered: bestFirst(scored.filter(({ score }) => score >= LEAST_LISTED)) };
    }

    /** The endpoints nearest to the meaning, nearest first. Empty if they are not found in time. */
    async function byMeaning(search: Search, filters: FindFilters, meaning: Meaning): Promise<FoundEndpoint[]> {
        const vector = await meaning.vector;
        const timeoutMs = Math.ceil(meaning.deadline - performance.now());
        if (vector === undefined || timeoutMs <= 0) return [];
        const find = (db: Db) => findNearest(db, search, { vector, filters, timeoutMs });
        return fitting(await read(async (db) => withoutRefused(db, await find(db), policiesOf)));
    }

    return {
        async find(task, filters, meaning) {
            const understood = await understand(task);
            const narrowed = narrowToOwn(filters, understood.search);
            const [{ search, ordered }, near] = await Promise.all([
                byWords(task, understood, narrowed),
                meaning === undefined ? [] : byMeaning(understood.search, narrowed, meaning).catch(() => []),
            ]);
            const rows = near.length === 0 ? ordered : fuse(ordered, near);
            return { search, found: filters.site === undefined ? spread(rows) : inARow(rows), isByMeaning: near.length > 0 };
        },
    };
}

/** For a task about the caller's own data, finds only endpoints that need a connection, unless a filter for it or for a site is set. */
function narrowToOwn(filters: FindFilters, { isOwn }: Search): FindFilters {
    return isOwn && filters.site === undefined && filters.needsConnection === undefined ? { ...filters, needsConnection: true } : filters;
}

function wordsOfPart({ stem, ideas }: TaskPart): string[] {
    return stem === undefined ? [...ideas] : [stem, ...ideas];
}

const policiesOf = ({ policies }: FoundRow) => policies;
