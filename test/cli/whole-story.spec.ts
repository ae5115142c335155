import { EventEmitter, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { findBrowser } from '../../cli/inspect/record.ts';
import { openCommandLine } from '../support/command-line.ts';
import { join } from '../support/people.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld } from '../support/world.ts';

const SITE = 'library.test';
const SECRET = 'rk_live_Zx9Kq2Lm7Pw4Rt6Yb1Nc8Vd3';
const MAIL = 'ada.lovelace@people.example';
const BOOKS = Array.from({ length: 6 }, (_, index) => ({
    id: 101 + index,
    title: `Volume ${index + 1}`,
    pages: 90 + index,
    lent_to: MAIL,
}));

/** The requests of a visitor's browser. */
const PAGE = `<!doctype html><title>Library</title><h1>Library</h1><script>
const headers = { authorization: 'Bearer ${SECRET}' };
const asked = [101, 102, 103, 104].map((id) => '/api/books/' + id).concat(['/api/search?q=volume&limit=2', '/api/search?q=three&limit=2']);
Promise.all(asked.map((path) => fetch(path, { headers }).then((answer) => answer.text()))).then(() => fetch('/api/done', { method: 'POST', headers }));
</script>`;

function openLibrary(recorded: EventEmitter): Promise<Site> {
    return openSite((request, response) => {
        const url = new URL(request.url ?? '/', `http://${SITE}`);
        const json = (status: number, body: unknown) =>
            response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        if (url.pathname === '/') return void response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
        if (url.pathname === '/api/done') {
            response.on('close', () => recorded.emit('all'));
            return void json(200, { done: true });
        }
        const q = url.searchParams.get('q');
        if (q !== null) return void json(200, { results: BOOKS.filter(({ title }) => title.toLowerCase().includes(q)).slice(0, 2) });
        const book = BOOKS.find(({ id }) => url.pathname === `/api/books/${id}`);
        return void json(book === undefined ? 404 : 200, book ?? { error: 'no such book' });
    });
}

describe('a contributor with a site without a schema', () => {
    it('records, inspects, lints, tests and pushes it; it is verified, looked up and fetched', async function () {
        needs(this, 'chromium');
        const recorded = new EventEmitter();
        const library = await openLibrary(recorded);
        const world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) }, verifier: { paceMs: 20, pollMs: 50 } });
        const ada = await join(world);
        const shell = openCommandLine({ ROUTEBOOK_URL: world.base, EGRESS_ALLOW: '127.0.0.0/8', EGRESS_HOSTS: `${SITE}=127.0.0.1` });
        const said: string[] = [];
        const done = async (args: string[], options?: Parameters<typeof shell.run>[1]) => {
            const ran = await shell.run([...args, '--json'], options);
            said.push(ran.stdout, ran.stderr);
            expect(ran.code, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).to.equal(0);
            return ran.json;
        };
        try {
            await done(['login'], { input: ada.apiKey ?? '' });
            const browser = joinPath(shell.folder, 'browser.sh');
            const flags = '--headless=new --no-sandbox --host-resolver-rules="MAP *.test 127.0.0.1"';
            writeFileSync(browser, `#!/bin/sh\nexec ${findBrowser()} ${flags} "$@"\n`, { mode: 0o755 });
            const visit = ['inspect', `http://${SITE}:${library.port}/`, '--browser', browser];
            const about = ['--examples', 'all', '--category', 'knowledge/books', '--out', 'library.json'];
            const { package: draft } = await done([...visit, ...about], { interrupt: once(recorded, 'all') });
            const { endpoints } = draft as { endpoints: { name: string; method: string; url: string }[] };
            const book = endpoints.find(({ url }) => new URL(url).pathname.startsWith('/api/books/'))?.name ?? '';
            const search = endpoints.find(({ url }) => new URL(url).pathname === '/api/search')?.name ?? '';
            expect(endpoints.map(({ name }) => name)).to.include.members([book, search]);

            await done(['lint', 'library.json']);
            expect(await done(['test', 'library.json', '--pause', '0'])).to.include({ failed: 0 });
            expect(await done(['push', 'library.json', '--dry-run'])).to.include({ version: 1, created: false });
            const pushed = await done(['push', 'library.json', '--wait', '60']);
            expect(pushed).to.include({ version: 1, created: true, credits_earned: 50, verified: true });

            const looked = await done(['catalog', SITE, '--intent', 'find one book of the library by its number']);
            expect(looked['schema']).to.include({ verified: true });
            expect((looked['endpoints'] as { name: string }[]).map(({ name }) => name)).to.include(book);
            const [param] =
                (looked['endpoints'] as { name: string; params: { name: string }[] }[]).find(({ name }) => name === book)?.params ?? [];
            const fetched = await done(['fetch', SITE, book, '--param', `${param?.name}=105`]);
            expect(fetched['data']).to.include({ id: 105, title: 'Volume 5' });
            expect(fetched['meta']).to.include({ credits_used: 1 });

            expect(said.slice(0, -2).join('')).not.to.include(MAIL);
            expect(said.join('') + readFileSync(joinPath(shell.folder, 'library.json'), 'utf8')).not.to.include(SECRET);
            expect(said.join('')).not.to.include(ada.apiKey ?? 'no key');
        } finally {
            shell.close();
            await world.close();
            await library.close();
        }
    });
});
