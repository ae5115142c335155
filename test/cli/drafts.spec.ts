import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { findBrowser } from '../../cli/inspect/record.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { openSite } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';

const SECRET = `sk_live_${'a1B2c3D4'.repeat(4)}`;
const MAIL = 'grace.hopper@people.example';

/** One exchange in the form of a browser's HAR. */
function exchange(path: string, answer: unknown): object {
    const content = { mimeType: 'application/json', text: JSON.stringify(answer) };
    const headers = [{ name: 'authorization', value: `Bearer ${SECRET}` }];
    return {
        startedDateTime: '2026-11-01T12:00:00.000Z',
        time: 5,
        request: { method: 'GET', url: `https://api.books.example${path}`, httpVersion: 'HTTP/1.1', headers, queryString: [], cookies: [] },
        response: { status: 200, statusText: 'OK', httpVersion: 'HTTP/1.1', headers: [], cookies: [], content },
        cache: {},
        timings: {},
    };
}

const RECORDING = {
    log: {
        version: '1.2',
        creator: { name: 'test', version: '1' },
        entries: [11, 12, 13, 14].map((id) => exchange(`/v1/books/${id}`, { id, title: `Book ${id}`, lent_to: MAIL })),
    },
};

const DOCUMENT = {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: 'https://api.pets.example/v1' }],
    paths: {
        '/pets/{id}': {
            get: {
                operationId: 'getPet',
                summary: 'One pet',
                parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
                responses: { 200: { description: 'OK' } },
            },
        },
    },
};

describe('drafts from existing files', () => {
    let shell: CommandLine;

    beforeEach(() => {
        shell = openCommandLine();
        writeFileSync(joinPath(shell.folder, 'session.har'), JSON.stringify(RECORDING));
        writeFileSync(joinPath(shell.folder, 'pets.json'), JSON.stringify(DOCUMENT));
    });

    afterEach(() => shell.close());

    const read = (name: string) => readFileSync(joinPath(shell.folder, name), 'utf8');

    it('makes a valid package from a recording, without its secret or personal data', async () => {
        const ran = await shell.run(['inspect', 'session.har', '--category', 'knowledge/books', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.json['file']).to.equal('books.example.json');
        const draft = JSON.parse(read('books.example.json'));
        expect(draft).to.include({ $schema: 'http://localhost:8080/schemas/routebook-1.json' });
        expect(draft.endpoints).to.have.length(1);
        expect(draft.endpoints[0].url).to.match(/^https:\/\/api\.books\.example\/v1\/books\/\{\w+\}$/);
        expect(draft.endpoints[0]).not.to.have.property('examples');
        const shown = await shell.run(['inspect', 'session.har', '--force']);
        for (const text of [ran.stdout, ran.stderr, shown.stdout, shown.stderr, read('books.example.json')]) {
            expect(text).not.to.include(SECRET).and.not.include(MAIL);
        }
        expect(shown.stdout).to.match(/1 endpoint of \d+ recorded calls/);
        expect(shown.stdout).to.include('Removed from the recording').and.include('books/{');
        expect((await shell.run(['lint', 'books.example.json'])).code).to.equal(0);
    });

    it('adds examples only on request, and names them', async () => {
        const ran = await shell.run(['inspect', 'session.har', '--examples', 'all', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        const [endpoint] = JSON.parse(read('books.example.json')).endpoints;
        expect(endpoint.examples.length).to.be.greaterThan(0);
        expect(ran.stderr).to.include(`published as an example: ${endpoint.name}`);
    });

    it('reads a recording from stdin, and an OpenAPI document by its content', async () => {
        const piped = await shell.run(['inspect', '-', '--out', '-'], { input: JSON.stringify(RECORDING) });
        expect(JSON.parse(piped.stdout)).to.include({ format: 'routebook/1', site: 'books.example' });
        const document = await shell.run(['inspect', 'pets.json', '--out', 'draft.json', '--json']);
        expect(document.code, document.stderr).to.equal(0);
        expect((await shell.run(['inspect', 'pets.json', '--out', 'told.json'])).stdout).to.include('1 endpoint of 1 operation');
        expect(JSON.parse(read('draft.json')).endpoints[0]).to.include({ url: 'https://api.pets.example/v1/pets/{id}' });
        const neither = await shell.run(['inspect', 'draft.json', '--json']);
        expect(neither.code).to.equal(1);
        expect(neither.error).to.include({ code: 'CANNOT_INSPECT' });
        const nothing = await shell.run(['inspect', '-', '--json'], { input: JSON.stringify({ log: { entries: [] } }) });
        expect(nothing.code).to.equal(1);
        expect(nothing.error).to.include({ code: 'NOTHING_FOUND' });
    });

    it('names a binary file that was given as a recording or a document', async () => {
        const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d]);
        for (const file of ['image.har', 'image.yaml', 'image.png']) {
            writeFileSync(joinPath(shell.folder, file), bytes);
            for (const command of ['inspect', 'import']) {
                const { error, code } = await shell.run([command, file, '--json']);
                expect(code, `${command} ${file}`).to.equal(1);
                expect(error['message'], command).to.match(new RegExp(`^${file} is (?:a binary|neither a HAR) file`));
            }
        }
        writeFileSync(joinPath(shell.folder, 'words.txt'), 'only words');
        expect((await shell.run(['import', 'words.txt', '--json'])).error['message']).to.match(
            /^words\.txt: The document is not an object/,
        );
    });

    it('opens a site in a browser, records the visit, and drafts when the window is closed', async function () {
        needs(this, 'chromium');
        const asked = new EventEmitter();
        const site = await openSite((request, response) => {
            if (request.url === '/') {
                response.writeHead(200, { 'content-type': 'text/html' });
                response.end(`<title>Books</title><script>
                    Promise.all([11, 12, 13].map((id) => fetch('/api/books/' + id).then((answer) => answer.text()))).then(() => fetch('/done'));
                </script>`);
            } else {
                response.writeHead(200, { 'content-type': 'application/json' }).end(`{"title":"A book"}`);
                if (request.url === '/done') response.on('close', () => asked.emit('all'));
            }
        });
        // A headless browser that can resolve the site's name.
        const browser = joinPath(shell.folder, 'browser.sh');
        const flags = '--headless=new --no-sandbox --host-resolver-rules="MAP *.test 127.0.0.1"';
        writeFileSync(browser, `#!/bin/sh\nexec ${findBrowser()} ${flags} "$@"\n`, { mode: 0o755 });
        const ran = await shell.run(['inspect', `http://books.test:${site.port}/`, '--browser', browser, '--json'], {
            env: { EGRESS_ALLOW: `127.0.0.1/32:${site.port}` },
            interrupt: once(asked, 'all'),
        });
        await site.close();
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.stderr).to.include('close the window');
        const { site: name, endpoints } = JSON.parse(read('books.test.json'));
        expect(name).to.equal('books.test');
        expect(endpoints.map(({ url }: { url: string }) => new URL(url).pathname)).to.include('/api/books/%7Bbook_id%7D');
        const none = await shell.run(['inspect', `http://books.test:${site.port}/`, '--browser', '/bin/false', '--json']);
        expect(none.code).to.equal(1);
        expect(none.error).to.include({ code: 'NO_BROWSER' });
    });

    it('imports a document, counts what was imported, and replaces no file on its own', async () => {
        const ran = await shell.run(['import', 'pets.json', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.json['counts']).to.deep.equal({ operations: 1, carried: 1, notCarried: 0 });
        expect(JSON.parse(read('pets.example.json'))).to.include({ $schema: 'http://localhost:8080/schemas/routebook-1.json' });
        const again = await shell.run(['import', 'pets.json', '--json']);
        expect(again.code).to.equal(1);
        expect(again.error).to.include({ code: 'FILE_EXISTS' });
        const told = await shell.run(['import', 'pets.json', '--force']);
        expect(told.code).to.equal(0);
        expect(told.stdout).to.include('routebook lint pets.example.json');
        const other = await shell.run(['import', 'session.har', '--json']);
        expect(other.code).to.equal(1);
        expect(other.error).to.include({ code: 'CANNOT_IMPORT', file: 'session.har' });
        expect((await shell.run(['import', 'nothing.yaml', '--json'])).error).to.include({ code: 'FILE_NOT_FOUND' });
        writeFileSync(
            joinPath(shell.folder, 'empty.json'),
            JSON.stringify({ openapi: '3.1.0', servers: [{ url: 'https://a.example' }], paths: {} }),
        );
        const empty = await shell.run(['import', 'empty.json', '--json']);
        expect(empty.code).to.equal(1);
        expect(empty.error).to.include({ code: 'NOTHING_CARRIED', message: 'empty.json has no operations.' });
        expect(existsSync(joinPath(shell.folder, 'a.example.json'))).to.equal(false);
    });

    it('writes nothing for an invalid site or category, or a missing source', async () => {
        for (const command of ['import', 'inspect']) {
            const site = await shell.run([command, 'pets.json', '--site', 'not/a/site', '--json']);
            expect(site.code).to.equal(2);
            expect(site.error['message']).to.match(/^--site: The domain has a path/);
            const category = await shell.run([command, 'pets.json', '--category', 'comerce/product-search', '--json']);
            expect(category.code).to.equal(2);
            expect(category.error['message']).to.match(/^--category: .*did you mean commerce\/product-search/);
            const folder = await shell.run([command, '.', '--json']);
            expect(folder.code).to.equal(1);
            expect(folder.error).to.include({ code: 'FILE_UNREADABLE' });
        }
        expect(readdirSync(shell.folder).filter((name) => name.endsWith('.json'))).to.deep.equal(['pets.json']);
    });
});
