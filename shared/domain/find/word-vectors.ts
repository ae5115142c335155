import { stemsOf } from '../search/tokens.ts';
import type { IndexedWord } from './endpoint-words.ts';
import type { Phrases } from './phrases.ts';
import { CLASS_WEIGHTS } from './weigh.ts';

/**
 * What words mean, as directions: related words (`flunk`, `exam`) have similar ones, although nobody wrote down that they are related.
 * A text has the average direction of its words.
 */
export interface WordVectors {
    /** Lines of shared/data/word-vectors.txt. As numbers, they would need several times the memory. */
    text: string;
    /** Where the direction of a stem is in the text, and how many stems are more common. */
    stems: ReadonlyMap<string, { at: number; rank: number }>;
    /** What all endpoints have in common, so it distinguishes none of them. */
    common: Direction;
}

export type Direction = Float32Array;

/** The numbers of a direction. Each is written as one character, ZERO for 0. */
export const SIZE = 64;
const ZERO = 94;
const LARGEST = 31;
/** Begins the line with the direction that endpoints have in common. */
export const COMMON = '-';
/** How much of the direction of an endpoint that is. */
const COMMON_SHARE = 0.6;

/** The rarer a word is, the more it says: a word after this many others has half the weight of the rarest. */
const HALF = 100;
/** The weight of words such as `find` and `today` in a task. */
const LITTLE = 0.5;

/** What nearness adds to the score by words. An endpoint of the usual nearness keeps its score. Tuned like the weights of words. */
const NEARNESS = 0.4;
const USUAL = 0.37;

/** Parses lines of a stem and its direction, the most common stem first. */
export function readWordVectors(text: string): WordVectors {
    const stems = new Map<string, { at: number; rank: number }>();
    for (let at = 0; at < text.length; at = text.indexOf('\n', at) + 1) {
        if (text[at] === '#') continue;
        const gap = text.indexOf(' ', at);
        stems.set(text.slice(at, gap), { at: gap + 1, rank: stems.size });
    }
    const common = stems.get(COMMON);
    return { text, stems, common: common === undefined ? new Float32Array(SIZE) : decode(text, common.at) };
}

/** The direction of a task; undefined without a known word. */
export function directionOfTask(task: string, { nothing, little }: Phrases, vectors: WordVectors): Direction | undefined {
    const stems = [...new Set(stemsOf(task))].filter((stem) => !nothing.has(stem));
    return averageOf(
        stems.map((stem) => [stem, little.has(stem) ? LITTLE : 1]),
        vectors,
    );
}

/** The direction of an endpoint as it is stored: what distinguishes it from other endpoints. Undefined without a known word. */
export function directionOfEndpoint(words: ReadonlyMap<string, IndexedWord>, vectors: WordVectors): string | undefined {
    const direction = wholeDirectionOf(words, vectors);
    return direction && encode(direction.map((value, place) => value - COMMON_SHARE * (vectors.common[place] ?? 0)));
}

/** The same with what endpoints have in common. */
export function wholeDirectionOf(words: ReadonlyMap<string, IndexedWord>, vectors: WordVectors): Direction | undefined {
    return averageOf(
        [...words].map(([word, { weight }]) => [word, CLASS_WEIGHTS[weight]]),
        vectors,
    );
}

/** Adds nearness in meaning to the scores of endpoints. A task or an endpoint without a direction keeps its scores. */
export function withNearness<Row extends { score: number; direction: string | null }>(
    task: Direction | undefined,
    rows: readonly Row[],
): Row[] {
    if (task === undefined) return [...rows];
    return rows.map((row) => {
        if (row.direction === null) return row;
        return { ...row, score: row.score + NEARNESS * (cosine(task, row.direction) - USUAL) };
    });
}

/** The cosine of the angle between two directions, of which the second is as it is stored. */
function cosine(one: Direction, stored: string): number {
    let sum = 0;
    let squares = 0;
    for (let place = 0; place < SIZE; place++) {
        const value = stored.charCodeAt(place) - ZERO;
        sum += (one[place] ?? 0) * value;
        squares += value * value;
    }
    return sum / Math.sqrt(squares);
}

/** Writes a direction as text. Its length is lost. */
export function encode(direction: Direction): string {
    const largest = Math.max(...direction.map(Math.abs));
    return String.fromCharCode(...Array.from(direction, (value) => ZERO + Math.round((value / largest) * LARGEST)));
}

function decode(text: string, at: number): Direction {
    const direction = new Float32Array(SIZE);
    for (let place = 0; place < SIZE; place++) direction[place] = text.charCodeAt(at + place) - ZERO;
    return toLengthOne(direction);
}

function averageOf(weights: readonly (readonly [stem: string, weight: number])[], { text, stems }: WordVectors): Direction | undefined {
    const sum = new Float32Array(SIZE);
    for (const [stem, weight] of weights) {
        const known = stems.get(stem);
        if (known === undefined) continue;
        const share = (weight * (known.rank + 1)) / (known.rank + HALF);
        const direction = decode(text, known.at);
        for (let place = 0; place < SIZE; place++) sum[place] = (sum[place] ?? 0) + share * (direction[place] ?? 0);
    }
    return sum.some((value) => value !== 0) ? toLengthOne(sum) : undefined;
}

function toLengthOne(direction: Direction): Direction {
    const length = Math.sqrt(product(direction, direction));
    for (let place = 0; place < SIZE; place++) direction[place] = (direction[place] ?? 0) / length;
    return direction;
}

function product(one: Direction, other: Direction): number {
    let sum = 0;
    for (let place = 0; place < SIZE; place++) sum += (one[place] ?? 0) * (other[place] ?? 0);
    return sum;
}
