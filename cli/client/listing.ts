export interface Page<Item> {
    items: Item[];
    /** The current length of the complete list. */
    total: number;
    /** null on the last page. */
    nextCursor: string | null;
}

/** A list that is read lazily, page by page: `for await (const card of routebook.schemas.list())`. */
export class Listing<Item> implements AsyncIterable<Item> {
    readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

    constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
        this.#read = read;
    }

    /** Reads one page: the first, or the one at a `nextCursor`. */
    page(cursor?: string): Promise<Page<Item>> {
        return this.#read(cursor);
    }

    async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
        let cursor: string | null | undefined;
        do {
            const page: Page<Item> = await this.#read(cursor ?? undefined);
            yield page;
            cursor = page.nextCursor;
        } while (cursor !== null);
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
        for await (const { items } of this.pages()) yield* items;
    }
}
