/** One page of a list. */
export interface Page<Item> {
    items: Item[];
    /** Of the whole list, as of now. */
    total: number;
    /** null on the last page. */
    nextCursor: string | null;
}

/** A list that is read page by page, as far as somebody looks: `for await (const card of routebook.schemas.list())`. */
export class Listing<Item> implements AsyncIterable<Item> {
    readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

    constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
        this.#read = read;
    }

    /** One page: the first, or the one that a page before named. */
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
