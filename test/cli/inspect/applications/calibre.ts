import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'calibre',
    host: 'library.test',
    ready: '/ajax/library-info',
    visit,
    start: (folder, port) => `
            export QT_QPA_PLATFORM=offscreen
            place=0
            for shelf in harbour quay; do
                for title in Tides Lights Ropes Boats Fog Moorings; do
                    place=$((place + 1))
                    echo "Words about $title" > $title.txt
                    calibredb add --with-library ${folder}/$shelf -t "$title of the $shelf" -a "Keeper $((place % 3))" -T "sea,kind $((place % 2))" -s 'Tales of the sea' -S $place $title.txt
                done
            done
            exec calibre-server --port ${port} --listen-on 127.0.0.1 --enable-local-write --disable-use-bonjour ${folder}/harbour ${folder}/quay`,
};

/** Reads a library of books: its pages for telephones, its catalogue, what its script asks, and changes some books. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await open(page, `${base}/#book_id=2&library_id=harbour&panel=book_details`);
    await open(page, `${base}/mobile`);
    for (const words of ['Tides', 'Ropes']) {
        await page.fill('input[name=search]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=search]', 'Enter')]);
    }
    await open(page, `${base}/mobile?num=2&sort=title&order=ascending&start=1&library_id=harbour`);
    await open(page, `${base}/mobile?num=2&sort=authors&order=descending&start=3&library_id=quay`);
    await ask(page, 'GET', '/ajax/library-info');
    for (const library of ['harbour', 'quay']) {
        for (const id of ['1', '2', '3']) {
            await ask(page, 'GET', `/ajax/book/${id}/${library}`);
            await ask(page, 'GET', `/get/opf/${id}/${library}`);
            await ask(page, 'GET', `/get/json/${id}/${library}`);
        }
        await ask(page, 'GET', `/ajax/books/${library}?ids=1,2,${library.length - 2}`);
        for (const { url } of JSON.parse(await ask(page, 'GET', `/ajax/categories/${library}`)) as { url: string }[]) {
            await ask(page, 'GET', url);
            await ask(page, 'GET', `${url}?num=2&offset=1&sort=title&sort_order=desc`);
        }
        const tags = JSON.parse(await ask(page, 'GET', `/ajax/category/${Buffer.from('tags').toString('hex')}/${library}`)) as {
            items: { url: string }[];
        };
        for (const { url } of tags.items) {
            await ask(page, 'GET', url);
            await ask(page, 'GET', `${url}?num=3&offset=1`);
        }
        for (const query of ['tides', 'tags:sea']) {
            await ask(page, 'GET', `/ajax/search/${library}?query=${encodeURIComponent(query)}`);
            await ask(page, 'GET', `/ajax/search/${library}?query=${encodeURIComponent(query)}&num=2&offset=1&sort=title&sort_order=asc`);
        }
        await ask(page, 'GET', `/interface-data/books-init?library_id=${library}&num=3&sort=title.asc`);
        await ask(
            page,
            'GET',
            `/interface-data/get-books?library_id=${library}&search=sea&sort=${library === 'quay' ? 'title.asc' : 'authors.desc'}`,
        );
        for (const id of ['2', '4']) await ask(page, 'GET', `/interface-data/book-metadata/${id}?library_id=${library}`);
        await ask(page, 'GET', `/interface-data/tag-browser?library_id=${library}`);
        for (const field of ['tags', 'authors', 'series'])
            await ask(page, 'GET', `/interface-data/field-names/${field}?library_id=${library}`);
        await ask(page, 'POST', `/interface-data/more-books?library_id=${library}`, {
            offset: 2,
            search: { query: 'sea', sort: 'title', sort_order: 'asc' },
        });
        for (const id of ['1', '2']) {
            await ask(page, 'POST', `/cdb/set-fields/${id}/${library}`, {
                changes: { title: `Title ${id}`, tags: ['sea', 'new'] },
                loaded_book_ids: [],
            });
            await ask(page, 'POST', `/book-set-last-read-position/${library}/${id}/TXT`, { device: 'lamp', cfi: `/${id}`, pos_frac: 0.25 });
            await ask(page, 'GET', `/book-get-last-read-position/${library}/${id}-TXT`);
            await ask(page, 'GET', `/book-get-annotations/${library}/${id}-TXT`);
        }
        await ask(page, 'POST', `/cdb/delete-books/6/${library}`);
        await ask(page, 'POST', `/cdb/cmd/list/0?library_id=${library}`, [['title', 'authors'], 'title', true, 'tags:sea', 10]);
    }
    await ask(page, 'GET', '/interface-data/init');
    await ask(page, 'GET', '/interface-data/update');
    for (const theme of ['dark', 'light']) await ask(page, 'POST', '/interface-data/set-session-data', { color_scheme: theme });
    for (const id of ['1', '2', '3']) await ask(page, 'GET', `/book-manifest/${id}/TXT`);
    for (const id of ['1', '2']) await ask(page, 'GET', `/conversion/book-data/${id}`);
    await ask(page, 'GET', '/fts/search?query=words');
    await ask(page, 'GET', '/fts/search?query=tides');
    const feed = await ask(page, 'GET', '/opds?library_id=harbour');
    await ask(page, 'GET', '/opds?library_id=quay');
    for (const [, path = ''] of feed.matchAll(/href="(\/opds\/navcatalog\/[^"]+)"/g)) {
        const shelf = await ask(page, 'GET', path.replaceAll('&amp;', '&'));
        for (const [, next = ''] of [...shelf.matchAll(/href="(\/opds\/category[^"]+)"/g)].slice(0, 3))
            await ask(page, 'GET', next.replaceAll('&amp;', '&'));
    }
    for (const words of ['tides', 'ropes']) await ask(page, 'GET', `/opds/search/${words}?library_id=harbour`);
    await open(page, `${base}/mobile`);
    for (const link of (await links(page, /\/legacy\/get\/|\/get\//)).slice(0, 3)) await ask(page, 'GET', link);
    await page.close();
}
