import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import type { Json } from '../../shared/domain/types.ts';
import type { FoundPage, PageOrder } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import { PlaceGone } from '../../shared/store/registry/search.ts';
import type { OpenCall, Reply } from '../call.ts';

type Pagination = NonNullable<Reply<unknown>['pagination']>;

export interface Page<Place = Json> extends PageOrder<Place> {
    /** Builds `meta.pagination`; `next` is where the next page begins, undefined on the last page. */
    end(next: Json | undefined, total: number): Promise<Pagination>;
}

const DEFAULT_LIMIT = 20;
/** Raise it when the content of cursors changes. It invalidates the cursors of earlier releases. */
const CURSOR_FORMAT = 3;

/**
 * Reads `limit` and `cursor`. `about` has the parameters that the cursor is bound to, in addition to the route: every parameter that
 * determines the rows or their order, normalised.
 * @template Place what the page before gave to `end`; cursors are authenticated, so it is not checked
 * @throws Refusal INVALID_CURSOR
 */
export async function readPage<Place extends Json>(
    { app, route, query }: OpenCall<unknown, PageQuery, unknown>,
    about: Json,
): Promise<Page<Place>> {
    const { limit = DEFAULT_LIMIT, cursor } = query;
    const bound: Json = [route, about, CURSOR_FORMAT];
    const after = cursor === undefined ? undefined : await app.cursors.open(bound, cursor);
    if (cursor !== undefined && after === undefined) throw new Refusal('INVALID_CURSOR');
    return {
        limit,
        after: after as Place | undefined,
        end: async (next, total) => ({
            limit,
            next_cursor: next === undefined ? null : await app.cursors.seal(bound, next),
            total,
        }),
    };
}

/** Answers the route of a list: reads the page that the caller asks for, and presents its rows. See `readPage`. */
export async function answerPage<Place extends Json, Row, Entry>(
    call: OpenCall<unknown, PageQuery, unknown>,
    about: Json,
    list: (page: PageOrder<Place>) => Promise<FoundPage<Row, Place>>,
    present: (rows: Row[]) => Entry[] | Promise<Entry[]>,
): Promise<Reply<Entry[]>> {
    const page = await readPage<Place>(call, about);
    const { rows, next, total } = await list(page);
    return { answer: await present(rows), pagination: await page.end(next, total) };
}

/** @throws Refusal INVALID_CURSOR if the list cannot be continued at a place any more */
export function refuseOldPlace(error: unknown): never {
    if (error instanceof PlaceGone) throw new Refusal('INVALID_CURSOR', 'This cursor has expired. Start again without one.');
    throw error;
}

/** A page of items that are already JSON texts, so that large items are not parsed. */
export function textPage(items: readonly string[], pagination: Pagination): { text: string; isKept: false } {
    return { text: `{"success":true,"data":[${items.join(',')}],"meta":${JSON.stringify({ pagination })}}`, isKept: false };
}
