import type { EndpointEntry } from '../../domain/find/entry.ts';
import type { Db } from '../../platform/db.ts';

/** The model that computes the vectors of endpoints, and their number of dimensions. */
interface EmbeddingModel {
    model: string;
    size: number;
}

export async function embeddingModel(db: Db): Promise<EmbeddingModel | undefined> {
    return db('embedding_model').first('model', 'size');
}

/** The embedding model, and the number of sites that wait for their vectors. */
export async function embeddingState(db: Db): Promise<(EmbeddingModel & { waiting: number }) | undefined> {
    return db('embedding_model').first('model', 'size', { waiting: db.raw('(select count(*)::integer from sites_to_embed)') });
}

/** The PostgreSQL server does not support vectors. */
export class NoVectors extends Error {}

/** Maximum number of dimensions that pgvector can index. */
const MAX_INDEXED = 2000;

/** Creates an empty table of vectors for this model, and queues all sites. @throws NoVectors if the extension pgvector is not installed */
export async function rebuildVectors(db: Db, { model, size }: EmbeddingModel): Promise<number> {
    return db.transaction(async (trx) => {
        await trx.raw("set local lock_timeout = '5s'");
        await makeExtension(trx);
        await trx.raw(`
            drop table if exists endpoint_vectors;
            create table endpoint_vectors (
                endpoint_id bigint primary key references endpoint_entries on delete cascade,
                embedding vector(${size}) not null
            );
        `);
        await copyRights(trx);
        const { rows } = await trx.raw<{ rows: object[] }>("select from pg_am where amname = 'hnsw'");
        if (rows.length > 0 && size <= MAX_INDEXED)
            await trx.raw('create index endpoint_vectors_near on endpoint_vectors using hnsw (embedding vector_cosine_ops)');
        await trx('embedding_model').insert({ model, size }).onConflict('is_only').merge();
        await trx('sites_to_embed').delete();
        const { rows: waiting } = await trx.raw<{ rows: object[] }>(
            'insert into sites_to_embed (site) select site from sites where latest_version_id is not null returning site',
        );
        return waiting.length;
    });
}

async function makeExtension(trx: Db): Promise<void> {
    const known = await trx.raw<{ rows: { type: string | null; isShipped: boolean }[] }>(
        `select to_regtype('vector')::text as type, exists (select from pg_available_extensions where name = 'vector') as "isShipped"`,
    );
    const [found] = known.rows;
    if (found?.type != null) return;
    if (found?.isShipped !== true) throw new NoVectors('the extension pgvector is not installed for this PostgreSQL');
    await trx.raw('create extension vector');
}

/** Gives APIs and workers the same rights on vectors as on endpoints. */
async function copyRights(trx: Db): Promise<void> {
    await trx.raw(`
        do $$
        declare
            given record;
        begin
            for given in
                select case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as role, a.privilege_type as kind
                from pg_class c, aclexplode(c.relacl) a where c.oid = 'endpoints'::regclass and a.grantee <> c.relowner
            loop
                execute format('grant %s on endpoint_vectors to %s', given.kind, given.role);
            end loop;
        end $$;
    `);
}

/** A site whose endpoints have no vectors yet. It is leased to one process. */
export interface SiteToEmbed {
    site: string;
    revision: number;
}

/** Duration of the lease. After it, a site that failed is taken again. */
const TAKEN = "interval '5 minutes'";

export async function takeSiteToEmbed(db: Db): Promise<SiteToEmbed | undefined> {
    const { rows } = await db.raw<{ rows: SiteToEmbed[] }>(
        `update sites_to_embed set due_at = app_now() + ${TAKEN}
         where site = (select site from sites_to_embed where due_at <= app_now() order by due_at, site limit 1 for update skip locked)
         returning site, revision`,
    );
    return rows[0];
}

/** Does nothing if the site was indexed again meanwhile. */
export async function endSiteToEmbed(db: Db, { site, revision }: SiteToEmbed): Promise<void> {
    await db('sites_to_embed').where({ site, revision }).delete();
}

/** Queues an indexed site for its vectors, if there is an embedding model. */
export async function queueSiteToEmbed(db: Db, site: string): Promise<void> {
    await db.raw(
        `insert into sites_to_embed as waiting (site) select ? from embedding_model
         on conflict (site) do update set revision = waiting.revision + 1, due_at = app_now()`,
        [site],
    );
}

export interface EndpointToEmbed {
    id: number;
    name: string;
    entry: EndpointEntry;
}

export async function endpointsToEmbed(db: Db, site: string): Promise<EndpointToEmbed[]> {
    return db('endpoints as e')
        .join('endpoint_entries as x', 'x.endpoint_id', 'e.id')
        .where({ site })
        .whereNotExists(db('endpoint_vectors as v').whereRaw('v.endpoint_id = e.id'))
        .orderBy('id')
        .select('id', 'name', 'entry');
}

/** Skips endpoints that were deleted meanwhile. */
export async function addVectors(db: Db, vectors: readonly { id: number; embedding: readonly number[] }[]): Promise<void> {
    await db.raw(
        `insert into endpoint_vectors (endpoint_id, embedding)
         select x.endpoint_id, g.embedding::vector
         from json_to_recordset(?::json) as g (id bigint, embedding real[]) join endpoint_entries x on x.endpoint_id = g.id
         on conflict (endpoint_id) do nothing`,
        [JSON.stringify(vectors)],
    );
}
