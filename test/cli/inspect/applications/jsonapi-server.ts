import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'jsonapi-server',
    host: 'articles.test',
    ready: '/rest/tags',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'server.cjs'), SERVER);
        return { ...node(folder, 'server.cjs', String(port)), env: { NODE_PATH: npm } };
    },
};

interface Row {
    id: string;
}

/** Reads articles, people, photos and tags with what belongs to them, and writes articles, comments and their relations. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/rest/articles`);
    const call = async (method: string, path: string, body?: object): Promise<string> =>
        await page.evaluate(
            async ([how, where, sent]) => {
                const headers = { accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' };
                const more = sent === undefined ? {} : { body: JSON.stringify(sent) };
                return await (await fetch(where, { method: how, headers, ...more })).text();
            },
            [method, `/rest${path}`, body] as const,
        );
    const get = (path: string) => call('GET', path);
    const all = async (kind: string) => (JSON.parse(await get(`/${kind}`)) as { data: Row[] }).data.map(({ id }) => id);
    await get('/swagger.json');
    const articles = await all('articles');
    const people = await all('people');
    const photos = await all('photos');
    const tags = await all('tags');
    for (const title of ['Linux Rocks', '~linux-rocks', ':for']) await get(`/articles?filter[title]=${encodeURIComponent(title)}`);
    for (const fields of ['title', 'title,content']) await get(`/articles?fields[articles]=${fields}&sort=-title`);
    for (const with_ of ['author', 'author,tags']) await get(`/articles?include=${with_}`);
    for (const offset of [0, 2]) await get(`/articles?page[offset]=${offset}&page[limit]=2`);
    for (const id of articles.slice(0, 2)) {
        await get(`/articles/${id}`);
        await get(`/articles/${id}?include=author`);
        for (const relation of ['author', 'photos', 'tags']) await get(`/articles/${id}/${relation}`);
        for (const relation of ['author', 'tags']) await get(`/articles/${id}/relationships/${relation}`);
        await call('PATCH', `/articles/${id}`, { data: { id, type: 'articles', attributes: { title: `Changed ${id.slice(0, 3)}` } } });
    }
    for (const name of ['Mark', 'Oli']) await get(`/people?filter[firstname]=${name}`);
    for (const id of people.slice(0, 2)) {
        await get(`/people/${id}`);
        await get(`/people/${id}/articles`);
    }
    for (const sort of ['title', '-width']) await get(`/photos?sort=${sort}`);
    for (const id of photos.slice(0, 2)) {
        await get(`/photos/${id}`);
        await get(`/photos/${id}?include=photographer`);
        await get(`/photos/${id}/photographer`);
    }
    for (const id of tags.slice(0, 2)) {
        await get(`/tags/${id}`);
        await get(`/tags/${id}/parent`);
    }
    const made: string[] = [];
    for (const title of ['Tides', 'Ropes']) {
        const attributes = { title, content: `<p>Of ${title}</p>`, status: 'published' };
        const relationships = { author: { data: { type: 'people', id: people[0] } } };
        const answer = await call('POST', '/articles', { data: { type: 'articles', attributes, relationships } });
        made.push((JSON.parse(answer) as { data: Row }).data.id);
    }
    for (const [place, id] of made.entries()) {
        const answer = await call('POST', '/comments', {
            data: { type: 'comments', attributes: { body: `Comment ${place}`, timestamp: '2026-01-02' } },
        });
        const comment = { type: 'comments', id: (JSON.parse(answer) as { data: Row }).data.id };
        await get(`/comments/${comment.id}`);
        await call('POST', `/articles/${id}/relationships/comments`, { data: [comment] });
        await call('DELETE', `/articles/${id}/relationships/comments`, { data: [comment] });
        await call('PATCH', `/articles/${id}/relationships/author`, { data: { type: 'people', id: people[1 + place] } });
    }
    await get('/comments');
    for (const id of made) await call('DELETE', `/articles/${id}`);
    await page.close();
}

const SERVER = `
const jsonApi = require('jsonapi-server');
const { readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');
const swagger = { title: 'Articles', version: '0.1.1', description: 'Articles of a harbour' };
jsonApi.setConfig({ swagger, protocol: 'http', hostname: 'articles.test', port: Number(process.argv[2]), base: 'rest' });
const resources = join(dirname(require.resolve('jsonapi-server')), '../example/resources');
for (const file of readdirSync(resources)) require(join(resources, file));
jsonApi.start();
`;
