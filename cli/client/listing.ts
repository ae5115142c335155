import { RoutebookError } from './errors.ts';

/** The most pages of one list. A list that is longer has no end, or nobody waits for it. */
const MAX_PAGES = 100_000;

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

    /** @throws RoutebookError INVALID_ANSWER if the list does not end */
    async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
        let cursor: string | undefined;
        for (let read = 1; ; read++) {
            const page: Page<Item> = await this.#read(cursor);
            yield page;
            if (page.nextCursor === null) return;
            if (page.items.length === 0 || page.nextCursor === cursor || read === MAX_PAGES) throw endless();
            cursor = page.nextCursor;
        }
    }

    /** Reads the complete list into memory. @throws RoutebookError INVALID_ANSWER if it has more than `most` items */
    async all(most = 1000): Promise<Item[]> {
        const all: Item[] = [];
        for await (const { items } of this.pages()) {
            all.push(...items);
            if (all.length > most) throw endless();
        }
        return all;
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
        for await (const { items } of this.pages()) yield* items;
    }
}

function endless(): RoutebookError {
    return new RoutebookError({ code: 'INVALID_ANSWER', message: 'The list in the answers does not end.' });
}
