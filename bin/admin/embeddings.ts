import { createEmbedder } from '../../shared/platform/embedder.ts';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { embeddingState, NoVectors, rebuildVectors } from '../../shared/store/registry/endpoint-vectors.ts';
import { type Done, done, table } from './command.ts';
import { AdminFault, type Operator } from './operator.ts';

const TIMEOUT_MS = 30_000;

/** `embeddings rebuild`: asks the model for the size of its vectors, creates their table, and queues every site for indexing. */
export async function rebuild({ db, embeddings, actor, command }: Operator): Promise<Done> {
    if (embeddings === undefined)
        throw new AdminFault('VALIDATION_ERROR', 'EMBEDDINGS_URL is not set: set it and EMBEDDINGS_MODEL as for the services.');
    const { model } = embeddings;
    const size = await sizeOf(embeddings);
    const before = await embeddingState(db);
    const sites = await rebuildVectors(db, { model, size }).catch((error: unknown) => {
        throw error instanceof NoVectors
            ? new AdminFault('SERVICE_UNAVAILABLE', `${error.message}: install it, and run this again.`)
            : error;
    });
    await recordChange(db, {
        ...{ actor, command, target: model, reason: null },
        before: before === undefined ? null : { model: before.model, size: before.size },
        after: { model, size },
    });
    return { ...done({ model, size, sites }), note: `admin: workers now compute the vectors of ${sites} sites` };
}

async function sizeOf(embeddings: NonNullable<Operator['embeddings']>): Promise<number> {
    try {
        const [vector] = await createEmbedder(embeddings).embed(['exchange rates of a day'], TIMEOUT_MS);
        return vector?.length ?? 0;
    } catch (error) {
        throw new AdminFault(
            'SERVICE_UNAVAILABLE',
            `The server of EMBEDDINGS_URL returned no vectors: ${error instanceof Error ? error.message : error}.`,
        );
    }
}

export async function status({ db, embeddings }: Operator): Promise<Done> {
    const state = await embeddingState(db);
    const wanted = embeddings?.model ?? null;
    const result = {
        ranking: state !== undefined && state.model === wanted ? 'words and meaning' : 'words',
        ...{ wanted, built: state?.model ?? null, size: state?.size ?? null, waiting: state?.waiting ?? 0 },
    };
    return { result, lines: table(['ranking', 'wanted model', 'built model', 'size', 'sites waiting'], [Object.values(result)]) };
}
