import type { App } from '../../../shared/app.ts';
import { openPage, type Page, pageNotFound, type Shown, type Visit } from '../page.ts';
import { DOCUMENTS, type DocumentRow } from './documents.ts';
import { libraryOf } from './library.ts';
import { VALUES } from './reference.ts';
import { searchPassages } from './search.ts';

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
