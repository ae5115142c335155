import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { inspect } from '../../cli/inspect/inspect.ts';
import { NoBrowser, record } from '../../cli/inspect/record.ts';
import { postsDatabase } from '../real/support/posts-package.ts';
import { type RealServer, startJsonServer } from '../real/support/real-server.ts';
import { needs } from '../support/system-programs.ts';
import { BROWSER_ARGUMENTS, CHROMIUM } from './inspect/browser.ts';
import { CREDENTIALS, PERSON } from './inspect/planted.ts';

const HEADLESS = { executablePath: CHROMIUM, headless: true, arguments: BROWSER_ARGUMENTS };

describe('routebook inspect, on a site that is opened in a browser', () => {
    let server: RealServer;
    let site: string;

    before(async function () {
        needs(this, 'chromium');
        server = await startJsonServer(postsDatabase());
        site = `http://posts.test:${server.port}`;
    });

    after(() => server?.stop());

    it('drafts what was clicked and sent, and writes no recording to disk', async () => {
        const before = new Set(readdirSync(tmpdir()));
        const recording = record(`${site}/`, {
            ...HEADLESS,
            drive: async (page) => {
                await page.evaluate(
                    async ({ authorization, mail }) => {
                        const headers = { authorization, 'content-type': 'application/json' };
                        for (const id of [1, 2, 3]) await fetch(`/posts/${id}`, { headers });
                        await fetch('/posts', { method: 'POST', headers, body: JSON.stringify({ title: 'One', contact: mail }) });
                    },
                    { ...CREDENTIALS, ...PERSON },
                );
            },
        });
        const found = await inspect({ recording }, { isPortAllowed: () => true });
        expect(found.package.site).to.equal('posts.test');
        expect(found.package.endpoints.map(({ method, url }) => `${method} ${url.replace(site, '')}`)).to.have.members([
            'GET /',
            'GET /db',
            'GET /posts/{post_id}',
            'POST /posts',
        ]);
        expect(found.report.redacted.map(({ kind }) => kind)).to.include.members(['a credential', 'a mail address']);
        expect(JSON.stringify(found)).not.to.include(PERSON.mail).and.not.to.include('plantedAbc');
        const left = readdirSync(tmpdir()).filter((name) => !before.has(name) && /playwright|\.har$/.test(name));
        expect(left, 'the profile of the browser is gone with it').to.deep.equal([]);
    });

    it('ends with the signal, and drafts what came until then', async () => {
        const end = new AbortController();
        async function* untilTheData() {
            for await (const entry of record(`${site}/`, { ...HEADLESS, signal: end.signal })) {
                yield entry;
                if (JSON.stringify(entry).includes(`${site}/db`)) end.abort();
            }
        }
        const found = await inspect({ recording: untilTheData() }, { isPortAllowed: () => true });
        expect(found.package.endpoints.map(({ url }) => url)).to.include.members([`${site}/`, `${site}/db`]);
    });

    it('reports that there is no browser, or that it does not start', async () => {
        for (const executablePath of ['/nowhere/chromium', '/bin/false']) {
            const fault = await inspect({ recording: record(`${site}/`, { ...HEADLESS, executablePath }) }).then(
                () => undefined,
                (error: unknown) => error,
            );
            expect(fault).to.be.instanceOf(NoBrowser);
        }
    });

    it('says how to record where no window can open', async () => {
        const fault = await inspect({ recording: record(`${site}/`, { executablePath: '/bin/false', hasDisplay: false }) }).then(
            () => undefined,
            (error: unknown) => error,
        );
        expect(fault).to.be.instanceOf(NoBrowser);
        expect((fault as NoBrowser).message).to.match(/no display.* HAR file/);
    });

    it('passes on errors while it is driven, and closes the browser', async () => {
        const recording = record(`${site}/`, { ...HEADLESS, drive: () => Promise.reject(new Error('a slip of the hand')) });
        const fault = await inspect({ recording }).then(
            () => undefined,
            (error: unknown) => error,
        );
        expect(fault).to.be.instanceOf(Error).with.property('message', 'a slip of the hand');
    });
});
