import type { Db } from '../../shared/platform/db.ts';

/**
 * The part of pgvector that we use, for a PostgreSQL without it: a type `vector(n)` with a cast from `real[]`, and the cosine distance. It
 * has no index, as pgvector with few rows.
 */
export async function addVectorType(db: Db): Promise<void> {
    await db.raw(`
        create type vector;
        create function vector_in(cstring) returns vector language internal immutable strict as 'textin';
        create function vector_out(vector) returns cstring language internal immutable strict as 'textout';
        create function vector_typmod_in(cstring[]) returns integer language internal immutable strict as 'varbittypmodin';
        create type vector (input = vector_in, output = vector_out, typmod_in = vector_typmod_in, internallength = variable,
            storage = extended);
        create cast (real[] as vector) with inout;
        create function cosine_distance(a vector, b vector) returns double precision language sql immutable as $$
            select 1 - sum(x * y) / sqrt(sum(x * x) * sum(y * y)) from unnest(a::text::real[], b::text::real[]) as pairs (x, y)
        $$;
        create operator <=> (leftarg = vector, rightarg = vector, function = cosine_distance);
    `);
}
