import type { App } from '../../shared/app.ts';
import type { Embedder } from '../../shared/platform/embedder.ts';
import {
    addVectors,
    type EndpointToEmbed,
    embeddingModel,
    endpointsToEmbed,
    endSiteToEmbed,
    type SiteToEmbed,
    takeSiteToEmbed,
} from '../../shared/store/registry/endpoint-vectors.ts';
import { type Repeated, repeatOnDatabase } from '../repeat.ts';

const POLL_MS = 1000;
const TIMEOUT_MS = 30_000;
/** Texts of one embedding request. Eight vectors of 3,072 numbers fit into the maximum answer size. */
const AT_ONCE = 8;
const MAX_TEXT = 2000;

/** Embeds the endpoints of published sites, one site after the other. Every worker may run it. */
export function startEmbedding({ db, log, embedder }: App): Repeated | undefined {
    if (embedder === undefined) return undefined;
    return repeatOnDatabase(log, { part: 'embeddings', everyMs: POLL_MS }, async (isStopped) => {
        const built = await embeddingModel(db);
        // Vectors of different models cannot be compared, so no site is embedded until `embeddings rebuild` has run.
        if (built?.model !== embedder.model) return;
        while (!isStopped()) {
            const taken = await takeSiteToEmbed(db);
            if (taken === undefined) return;
            const problem = await embedSite(taken, built.size).catch((error: unknown) => error);
            if (problem === undefined) continue;
            log.warn(
                { part: 'embeddings', site: taken.site, err: problem },
                'the endpoints of a site were not embedded; this will be retried',
            );
            return;
        }
    });

    async function embedSite(taken: SiteToEmbed, size: number): Promise<void> {
        const endpoints = await endpointsToEmbed(db, taken.site);
        for (let from = 0; from < endpoints.length; from += AT_ONCE)
            await embedSome(embedder as Embedder, endpoints.slice(from, from + AT_ONCE), size);
        await endSiteToEmbed(db, taken);
    }

    async function embedSome({ embed }: Embedder, endpoints: readonly EndpointToEmbed[], size: number): Promise<void> {
        const vectors = await embed(endpoints.map(textOf), TIMEOUT_MS);
        if (vectors[0]?.length !== size) throw new Error(`the model made vectors of ${vectors[0]?.length} numbers instead of ${size}`);
        await addVectors(
            db,
            endpoints.flatMap(({ id }, place) => ({ id, embedding: vectors[place] ?? [] })),
        );
    }
}

/** What an endpoint is for. Names of params and fields are left out: with them, a model of sentences found less (`everyday` tasks). */
function textOf({ name, entry }: EndpointToEmbed): string {
    return `${entry.title}, ${name.replaceAll('_', ' ')}. ${entry.description}`.slice(0, MAX_TEXT).toWellFormed();
}
