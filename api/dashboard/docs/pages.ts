import type { App } from '../../../shared/app.ts';
import { editDistance } from '../../../shared/domain/text/edit-distance.ts';
import { keptPage, openPage, type Page, pageNotFound, type Shown, type Visit } from '../page.ts';
import { DOCUMENTS, type DocumentRow } from './documents.ts';
import { type Library, libraryOf, type Passage, wordsIn } from './library.ts';
import type { Article } from './markdown.ts';
import { VALUES } from './reference.ts';

/** Pages of the documentation: guides, formats, and every route with its fields and an example call. */
export const docsPages: Page[] = [
    keptPage('/docs', showIndex),
    openPage({ method: 'GET', path: '/docs/search', respond: search }),
    keptPage('/docs/api/{chapter}', showChapter),
    keptPage('/docs/operations/{section}', ({ app, params }) => showPart(app, rowAt('/docs/operations'), params['section'])),
    ...DOCUMENTS.map((row) => keptPage(row.path, ({ app }) => showDocument(app, row))),
];

async function showIndex({ app }: Pick<Visit, 'app'>): Promise<Shown> {
    return {
        view: 'docs/index',
        title: 'Documentation',
        description: 'Guides for callers, contributors, site owners and operators, and every API route.',
        model: await menuOf(app),
    };
}

async function search({ app, query }: Visit): Promise<Shown> {
    const q = (query('q') ?? '').trim().slice(0, 100).toWellFormed();
    const library = await libraryOf(app);
    const words = [...new Set(wordsIn(q))];
    const spelled = words.map((word) => spelledAs(word, library));
    return {
        view: 'docs/search',
        title: 'Search the documentation',
        model: {
            q,
            corrected: spelled.some((word, place) => word !== words[place]) ? spelled.join(' ') : undefined,
            hits: searchPassages(library.passages, spelled),
            ...(await menuOf(app)),
        },
    };
}

/** A chapter of routes, or a part of the document about all routes. */
async function showChapter({ app, params }: Pick<Visit, 'app' | 'params'>): Promise<Shown> {
    const chapter = (await libraryOf(app)).chapters.find(({ slug }) => slug === params['chapter']);
    if (chapter === undefined) return showPart(app, rowAt('/docs/api'), params['chapter']);
    return {
        view: 'docs/chapter',
        title: `API: ${chapter.tag}`,
        description: `${chapter.about}. Routes with their parameters, responses and a call to try.`,
        model: { chapter, values: JSON.stringify(VALUES), ...(await menuOf(app)) },
    };
}

async function showDocument(app: App, row: DocumentRow): Promise<Shown> {
    const { title, html, sections, parts } = await articleOf(app, row);
    const own = sections.filter(({ level }) => level === 2).map(({ id, heading }) => ({ path: `#${id}`, title: heading }));
    return {
        view: 'docs/article',
        title,
        description: row.about,
        model: { title, article: html, listed: parts, open: { row, parts: row.isSplit ? parts : own }, ...(await menuOf(app)) },
    };
}

/** One page of a split document, between the page before and the next one. */
async function showPart(app: App, row: DocumentRow | undefined, slug: string | undefined): Promise<Shown> {
    const parts = row === undefined ? [] : (await articleOf(app, row)).parts;
    const place = parts.findIndex(({ path }) => path === `${row?.path}/${slug}`);
    const part = parts[place];
    if (row === undefined || part === undefined) throw pageNotFound();
    const around = { before: parts[place - 1] ?? { path: row.path, title: row.name }, after: parts[place + 1] };
    return {
        view: 'docs/article',
        title: `${part.title}: ${row.name}`,
        description: `${part.title}. ${row.about}`,
        model: { title: part.title, article: part.html, listed: [], open: { row, parts }, ...around, ...(await menuOf(app)) },
    };
}

async function articleOf(app: App, row: DocumentRow): Promise<Article> {
    const found = (await libraryOf(app)).articles.find((one) => one.row === row);
    if (found === undefined) throw pageNotFound();
    return found.article;
}

const rowAt = (path: string) => DOCUMENTS.find((row) => row.path === path);

async function menuOf(app: App) {
    return { documents: DOCUMENTS, chapters: (await libraryOf(app)).chapters };
}

/** A passage with the text around the first match. */
interface Hit extends Passage {
    snippet: string;
}

const MAX = 20;
const AROUND = 90;

/** Shorter words resemble too many others. */
const MIN_CORRECTED = 5;

/** Corrects a word that the documentation lacks to the nearest one with the same first letter and at most two typing mistakes. */
function spelledAs(word: string, { words }: Library): string {
    if (word.length < MIN_CORRECTED || words.some((one) => one.includes(word))) return word;
    const limit = word.length < 8 ? 1 : 2;
    const near = words
        .filter((one) => one[0] === word[0] && Math.abs(one.length - word.length) <= limit)
        .map((one) => ({ one, distance: editDistance(word, one, limit) }))
        .filter(({ distance }) => distance <= limit);
    return near.toSorted((a, b) => a.distance - b.distance)[0]?.one ?? word;
}

/** Finds the passages that contain all words. Passages with the words in their heading come first. */
function searchPassages(passages: readonly Passage[], words: readonly string[]): Hit[] {
    if (words.length === 0) return [];
    return passages
        .map((passage) => ({ passage, score: scoreOf(passage, words) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, MAX)
        .map(({ passage }) => ({ ...passage, snippet: snippetOf(passage.text, words) }));
}

/** Scores a passage; 0 if a word is missing. A word in the heading counts more than all its matches in the text. */
function scoreOf({ heading, page, text }: Passage, words: readonly string[]): number {
    const [head, body] = [`${heading} ${page}`.toLowerCase(), text.toLowerCase()];
    if (!words.every((word) => head.includes(word) || body.includes(word))) return 0;
    const counts = words.map((word) => (head.includes(word) ? 10 : 0) + Math.min(5, body.split(word).length - 1));
    return counts.reduce((sum, count) => sum + count, 0);
}

/** Whole words around the first match, or the beginning if only the heading matches. */
function snippetOf(text: string, words: readonly string[]): string {
    const lower = text.toLowerCase();
    const hits = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    const first = hits.length === 0 ? 0 : Math.min(...hits);
    const from = first <= AROUND ? 0 : text.lastIndexOf(' ', first - AROUND) + 1;
    const end = text.length <= from + 2 * AROUND ? text.length : text.indexOf(' ', from + 2 * AROUND);
    const cut = end < 0 ? text.slice(from) : text.slice(from, end);
    return `${from > 0 ? '… ' : ''}${cut}${from + cut.length < text.length ? ' …' : ''}`;
}
