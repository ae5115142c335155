import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'kiwix',
    host: 'books.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'books.py'), BOOKS);
        return `
            /usr/bin/python3 books.py
            for book in harbour:eng lights:eng marees:fra; do
                name=\${book%%:*}
                zimwriterfs -w index.html -I icon.png -l \${book##*:} -t "Book of $name" -d "Words on $name" -c Keeper -p Mole -n "$name" --tags "_category:$name;sea" ./$name $name.zim
                kiwix-manage library.xml add $name.zim
            done
            exec kiwix-serve --port ${port} --address 127.0.0.1 --library library.xml`;
    },
};

/** Looks through a shelf of books, searches them, reads some pages, and asks the catalogue of the shelf. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/');
    for (const book of ['harbour', 'lights', 'marees']) {
        await go(`/${book}/index.html`, `/${book}/tides.html`, `/${book}/ropes.html`);
        await page.fill('input[name=pattern]', 'wat');
        await page.locator('input[name=pattern]').pressSequentially('er', { delay: 60 });
        await page.waitForLoadState('networkidle');
        await page.keyboard.press('Escape');
        await Promise.all([page.waitForNavigation(), page.press('input[name=pattern]', 'Enter')]);
    }
    for (const words of ['ropes', 'water']) await go(`/search?content=lights&pattern=${words}&start=0&pageLength=${words.length - 2}`);
    for (const [book, words] of [
        ['harbour', 'ti'],
        ['lights', 'ro'],
    ])
        await ask(page, 'GET', `/suggest?content=${book}&term=${words}`);
    await ask(page, 'GET', '/catalog/root.xml');
    await ask(page, 'GET', '/catalog/searchdescription.xml');
    for (const words of ['harbour', 'words']) await ask(page, 'GET', `/catalog/search?q=${words}&start=0&count=${words.length}`);
    for (const lang of ['eng', 'fra']) await ask(page, 'GET', `/catalog/search?lang=${lang}`);
    const catalog = '/catalog/v2';
    for (const name of ['root.xml', 'searchdescription.xml', 'entries', 'partial_entries', 'categories', 'languages'])
        await ask(page, 'GET', `${catalog}/${name}`);
    for (const [lang, words] of [
        ['eng', 'harbour'],
        ['fra', 'marees'],
    ]) {
        await ask(page, 'GET', `${catalog}/entries?lang=${lang}&q=${words}`);
        await ask(page, 'GET', `${catalog}/entries?category=${words}`);
        await ask(page, 'GET', `${catalog}/entries?start=${lang === 'eng' ? 0 : 1}&count=2`);
        await ask(page, 'GET', `${catalog}/partial_entries?q=${words}`);
    }
    const shelf = await ask(page, 'GET', `${catalog}/partial_entries?count=-1`);
    for (const [, id] of shelf.matchAll(/urn:uuid:([\w-]+)/g)) await ask(page, 'GET', `${catalog}/entry/${id}`);
    for (const book of ['harbour', 'lights']) {
        for (const name of ['Title', 'Language', 'Creator']) await ask(page, 'GET', `/raw/${book}/meta/${name}`);
        for (const name of ['tides', 'oars']) await ask(page, 'GET', `/raw/${book}/content/${name}.html`);
    }
    for (const name of ['harbour', 'rope']) await go(`/catch/external?source=${encodeURIComponent(`http://${name}.example/`)}`);
    await page.close();
}

/** Pages of three books, in folders. */
const BOOKS = `
import os, struct, zlib
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
rows = b''.join(b'\\0' + b'\\x20\\x60\\xa0' * 48 for _ in range(48))
icon = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 48, 48, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')
for book in ('harbour', 'lights', 'marees'):
    os.makedirs(book)
    open(book + '/icon.png', 'wb').write(icon)
    names = ['tides', 'ropes', 'anchors', 'oars']
    for name in names + ['index']:
        links = ''.join('<li><a href="%s.html">%s</a></li>' % (one, one) for one in names)
        open('%s/%s.html' % (book, name), 'w').write('<html><head><title>%s of %s</title></head><body><h1>%s</h1><p>The water and the %s of the %s.</p><ul>%s</ul></body></html>' % (name, book, name, name, book, links))
`;
