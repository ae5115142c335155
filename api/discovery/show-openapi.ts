import type { AnswerWithETag } from '../answers/etag.ts';
import { openApiBytes } from '../answers/openapi-bytes.ts';
import type { Call } from '../call.ts';

/** GET /v1/openapi.json */
export async function showOpenApi({ app }: Pick<Call<object, object, undefined>, 'app'>): Promise<AnswerWithETag> {
    const { tag, ...bytes } = await openApiBytes(app.publicUrl());
    return { tag, read: () => Promise.resolve(bytes) };
}
