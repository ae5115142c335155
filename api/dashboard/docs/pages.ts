import type { App } from '../../../shared/app.ts';
import { openPage, type Page, pageNotFound, type Shown, type Visit } from '../page.ts';
import { DOCUMENTS, type DocumentRow } from './documents.ts';
import { libraryOf, type Passage } from './library.ts';
import { VALUES } from './reference.ts';

/** Pages of the documentation: guides, formats, and every route with its fields and an example call. */
export const docsPages: Page[] = [
    openPage({ method: 'GET', path: '/docs', respond: showIndex }),
    openPage({ method: 'GET', path: '/docs/search', respond: search }),
    openPage({ method: 'GET', path: '/docs/api/{chapter}', respond: showChapter }),
    ...DOCUMENTS.map((row) => openPage({ method: 'GET', path: row.path, respond: async ({ app }) => showDocument(app, row) })),
];

async function showIndex({ app }: Visit): Promise<Shown> {
    return {
        view: 'docs/index',
        title: 'Documentation',
        description: 'Guides for callers, contributors, site owners and operators, and every API route.',
        model: await menuOf(app),
    };
}

async function search({ app, query }: Visit): Promise<Shown> {
    const q = (query('q') ?? '').trim().slice(0, 100).toWellFormed();
    const { passages } = await libraryOf(app);
    return {
        view: 'docs/search',
        title: 'Search the documentation',
        model: { q, hits: searchPassages(passages, q), ...(await menuOf(app)) },
    };
}

async function showChapter({ app, params }: Visit): Promise<Shown> {
    const chapter = (await libraryOf(app)).chapters.find(({ slug }) => slug === params['chapter']);
    if (chapter === undefined) throw pageNotFound();
    return {
        view: 'docs/chapter',
        title: `API: ${chapter.tag}`,
        description: `${chapter.about}. Routes with their parameters, responses and a call to try.`,
        model: { chapter, values: JSON.stringify(VALUES), ...(await menuOf(app)) },
    };
}

async function showDocument(app: App, { path, about }: DocumentRow): Promise<Shown> {
    const article = (await libraryOf(app)).articles.find(({ row }) => row.path === path)?.article;
    if (article === undefined) throw pageNotFound();
    return {
        view: 'docs/article',
        title: article.title,
        description: about,
        model: { title: article.title, article: article.html, ...(await menuOf(app)) },
    };
}

async function menuOf(app: App) {
    return { documents: DOCUMENTS, chapters: (await libraryOf(app)).chapters };
}

/** A passage with the text around the first match. */
interface Hit extends Passage {
    snippet: string;
}

const MAX = 20;
const AROUND = 90;

/** Finds the passages that contain all words of `q`. Passages with the words in their heading come first. */
function searchPassages(passages: readonly Passage[], q: string): Hit[] {
    const words = [...new Set(q.toLowerCase().match(/[\p{L}\p{N}_$]+/gu))];
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
