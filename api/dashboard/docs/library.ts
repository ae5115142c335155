import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../../../shared/app.ts';
import { REFUSALS } from '../../../shared/refusals.ts';
import { DOCUMENTS, type DocumentRow, documentText } from './documents.ts';
import type { Article, Part } from './markdown.ts';
import { type Chapter, reference } from './reference.ts';

/** The whole documentation, built once per public URL. */
export interface Library {
    articles: readonly { row: DocumentRow; article: Article }[];
    chapters: readonly Chapter[];
    passages: readonly Passage[];
    /** Every word of the passages, in lower case. */
    words: readonly string[];
}

/** A part of the documentation that the search can find. */
export interface Passage {
    page: string;
    heading: string;
    path: string;
    text: string;
}

/** Cached. It is built again only if the public URL changes. */
const made = new WeakMap<App, { publicUrl: string; library: Promise<Library> }>();

export function libraryOf(app: App): Promise<Library> {
    const publicUrl = app.publicUrl();
    const before = made.get(app);
    if (before?.publicUrl === publicUrl) return before.library;
    const library = makeLibrary(publicUrl, app.config.demo);
    made.set(app, { publicUrl, library });
    return library;
}

/** Builds each part in its own turn of the event loop, since all of them together take 0.2 s. */
async function makeLibrary(publicUrl: string, hasDemo: boolean): Promise<Library> {
    // Loaded when the documentation is first read.
    const { renderMarkdown } = await import('./markdown.ts');
    const articles: { row: DocumentRow; article: Article }[] = [];
    for (const row of DOCUMENTS) {
        articles.push({ row, article: renderMarkdown(documentText(row, { publicUrl, hasDemo }), row) });
        await nextTurn();
    }
    linkToParts(articles.map(({ article }) => article));
    const chapters = await reference(publicUrl);
    await nextTurn();
    const passages = [...articlePassages(articles), ...routePassages(chapters), ...codePassages()];
    await nextTurn();
    return { articles, chapters, passages, words: [...new Set(passages.flatMap(({ heading, text }) => wordsIn(`${heading} ${text}`)))] };
}

/** Makes links to headings of a split document lead to their pages. */
function linkToParts(articles: readonly Article[]): void {
    const places = new Map(articles.flatMap(({ parts }) => parts.flatMap(placesOf)));
    for (const page of articles.flatMap((article) => [article, ...article.parts]))
        page.html = page.html.replaceAll(/(?<=href=")\/docs\/\w+#[^"]+/g, (link) => places.get(link) ?? link);
}

function placesOf({ path, sections }: Part): [link: string, place: string][] {
    const [document, slug] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    return sections.map(({ id }) => (id === '' ? [`${document}#${slug}`, path] : [`${document}#${id}`, `${path}#${id}`]));
}

/** The words of a text that a search looks for. */
export function wordsIn(text: string): string[] {
    return text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function articlePassages(articles: Library['articles']): Passage[] {
    return articles.flatMap(({ row, article }) =>
        [{ ...article, path: row.path }, ...article.parts].flatMap(({ path, sections }) =>
            sections.map(({ id, heading, text }) => ({
                ...{ page: row.name, heading, text: text.replaceAll(/\s+/g, ' ').trim() },
                path: id === '' ? path : `${path}#${id}`,
            })),
        ),
    );
}

function routePassages(chapters: readonly Chapter[]): Passage[] {
    return chapters.flatMap(({ tag, slug, operations }) =>
        operations.map(({ id, method, path, summary, description, fields }) => ({
            page: `API: ${tag}`,
            heading: `${method} ${path}`,
            path: `/docs/api/${slug}#${id}`,
            text: [`${summary}.`, description.map(({ text }) => text).join(''), ...fields.map(({ name }) => name)].join(' '),
        })),
    );
}

function codePassages(): Passage[] {
    return [...REFUSALS].map(([code, { meaning }]) => ({
        page: 'Error codes',
        heading: code,
        path: `/docs/errors#${code}`,
        text: meaning,
    }));
}
