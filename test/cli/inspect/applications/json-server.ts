import type { BrowserContext } from 'playwright-core';
import { CREDENTIALS, PERSON } from '../planted.ts';
import { open } from '../visiting.ts';

/** A page that works with the posts and comments of json-server. */
export async function visitPosts(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.evaluate(
        async ({ authorization, mail, phone, name, token }) => {
            const ask = async (method: string, path: string, body?: object) => {
                const headers = { authorization, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
                return await (await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).text();
            };
            await ask('GET', '/posts');
            for (const place of [1, 2, 3]) await ask('GET', `/posts?_page=${place}&_limit=3`);
            for (const [sort, order] of [
                ['views', 'desc'],
                ['title', 'asc'],
                ['views', 'asc'],
            ])
                await ask('GET', `/posts?_sort=${sort}&_order=${order}`);
            for (const words of ['Tea', 'milk']) await ask('GET', `/posts?q=${words}`);
            for (const id of [1, 2, 3, 5]) await ask('GET', `/posts/${id}`);
            for (const id of [1, 2]) await ask('GET', `/posts/${id}/comments`);
            await ask('GET', '/comments?postId=1');
            await ask('GET', '/comments/2');
            await ask('GET', '/profile');
            await ask('GET', '/posts/777');
            await ask('POST', '/posts', { title: 'One', author: name, views: 1, contact: mail });
            await ask('POST', '/posts', { title: 'Two', author: name, views: 2, contact: phone, session_token: token });
            await ask('POST', '/posts/3/comments', { body: 'Good', from: { kind: 'reader', mail } });
            await ask('PUT', '/posts/4', { title: 'New', author: name, views: 4 });
            await ask('PUT', '/posts/5', { title: 'Newer', author: name, views: 5 });
            await ask('PATCH', '/posts/6', { views: 61 });
            await ask('DELETE', '/posts/7');
        },
        { ...CREDENTIALS, ...PERSON },
    );
    await page.close();
}
