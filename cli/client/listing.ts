import { RoutebookError } from './errors.ts';

/** Maximum number of pages of one list. A longer one is treated as endless. */
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
    readonly #mayHaveGaps: boolean;

    /** @param mayHaveGaps an empty page is not always the last */
    constructor(read: (cursor: string | undefined) => Promise<Page<Item>>, mayHaveGaps = false) {
        this.#read = read;
        this.#mayHaveGaps = mayHaveGaps;
    }

    /** Reads one page: the first, or the one at a `nextCursor`. */
    page(cursor?: string): Promise<Page<Item>> {
        return this.#read(cursor);
    }

    /** Reads page by page, from the first or from a `nextCursor`. @throws RoutebookError INVALID_ANSWER if the list does not end */
    async *pages(from?: string): AsyncGenerator<Page<Item>, void, undefined> {
        let cursor = from;
        for (let read = 1; ; read++) {
            const page: Page<Item> = await this.#read(cursor);
            yield page;
            if (page.nextCursor === null) return;
            const isEnd = page.items.length === 0 && !this.#mayHaveGaps;
            if (isEnd || page.nextCursor === cursor || read === MAX_PAGES) throw invalid('The list in the answers does not end.');
            cursor = page.nextCursor;
        }
    }

    /** Reads the complete list into memory. @throws RoutebookError INVALID_ANSWER if it has more than `maxItems` items */
    async all(maxItems = 1000): Promise<Item[]> {
        const all: Item[] = [];
        for await (const { items } of this.pages()) {
            if (all.length + items.length > maxItems) throw invalid(`The list has more than ${maxItems.toLocaleString('en')} items.`);
            for (const item of items) all.push(item);
        }
        return all;
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
        for await (const { items } of this.pages()) yield* items;
    }
}

function invalid(message: string): RoutebookError {
    return new RoutebookError({ code: 'INVALID_ANSWER', message });
}
