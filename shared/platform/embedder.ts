import { listOf, objectOf } from '../domain/json/schema/structure.ts';
import { readBounded } from './read-bounded.ts';
import { VERSION } from './version.ts';

/** A server with the OpenAI embeddings API. */
export interface EmbeddingsSettings {
    url: string;
    key: string | undefined;
    model: string;
    /** Maximum number of search tasks that all processes together send to it in a minute. */
    perMinute: number;
}

export interface Embedder {
    model: string;
    /** Returns one vector for each text, all of the same size. @throws if the server does not return them in time */
    embed(texts: readonly string[], timeoutMs: number): Promise<number[][]>;
}

const MAX_BYTES = 1024 * 1024;
/** Maximum number of dimensions of a pgvector column. */
const MAX_NUMBERS = 16_000;

export function createEmbedder({ url, key, model }: EmbeddingsSettings): Embedder {
    return {
        model,
        async embed(texts, timeoutMs) {
            const response = await fetch(url, {
                method: 'POST',
                headers: {
                    'content-type': 'application/json',
                    accept: 'application/json',
                    'user-agent': `Routebook/${VERSION}`,
                    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
                },
                body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
                redirect: 'error',
                signal: AbortSignal.timeout(timeoutMs),
            });
            const bytes = response.body === null ? Buffer.alloc(0) : await readBounded(response.body, MAX_BYTES);
            if (bytes === undefined) throw new Error('the embeddings server answered with more than 1 MiB');
            if (!response.ok) throw new Error(`the embeddings server answered ${response.status}`);
            return vectorsIn(JSON.parse(bytes.toString('utf8')), texts.length);
        },
    };
}

/** The vectors in an answer, in the order of the texts. */
function vectorsIn(answer: unknown, count: number): number[][] {
    const rows = listOf(objectOf(answer)['data']);
    const vectors: number[][] = [];
    for (const [place, row] of rows.entries()) {
        const { index = place, embedding } = objectOf(row) as { index?: unknown; embedding?: unknown };
        if (typeof index === 'number' && index >= 0 && index < count && isVector(embedding)) vectors[index] = embedding;
    }
    const size = vectors[0]?.length;
    const isWhole = rows.length === count && Array.from({ length: count }, (_, place) => vectors[place]?.length === size).every(Boolean);
    if (size === undefined || !isWhole) throw new Error('the embeddings server did not answer with one vector for each text');
    return vectors;
}

function isVector(value: unknown): value is number[] {
    return (
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= MAX_NUMBERS &&
        value.every((one) => typeof one === 'number' && Number.isFinite(one))
    );
}
