import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ExampleCandidate } from '../../cli/inspect/example-candidate.ts';
import { type Inspected, inspect } from '../../cli/inspect/inspect.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { OPERATOR, startDjangoAdmin } from '../real/support/django-admin.ts';
import { publication } from '../real/support/packages-package.ts';
import { postsDatabase } from '../real/support/posts-package.ts';
import { startJsonServer, startVerdaccio } from '../real/support/real-server.ts';
import { startShaarli } from '../real/support/shaarli.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';
import { visitDjangoAdmin } from './inspect/applications/django-admin.ts';
import { visitFossil } from './inspect/applications/fossil.ts';
import { visitPosts } from './inspect/applications/json-server.ts';
import { visitPrometheus } from './inspect/applications/prometheus.ts';
import { visitShaarli } from './inspect/applications/shaarli.ts';
import { visitVerdaccio } from './inspect/applications/verdaccio.ts';
import { FOSSIL_PASSWORD, startFossil, startPrometheus } from './inspect/apps.ts';
import { openBrowser, recordHar } from './inspect/browser.ts';
import { CREDENTIALS, PERSON } from './inspect/planted.ts';
import { check, truthOf } from './inspect/truth.ts';

interface Recorded {
    /** The name of its truth file. */
    name: string;
    host: string;
    start: () => Promise<{ port: number; stop: () => Promise<void> }>;
    visit: (context: BrowserContext, base: string) => Promise<void>;
    /** What the visit typed or sent, so that the recording contains it. */
    planted: string[];
    /** A read whose result is compared with the application's own response, and the URL of that. Not for reads behind a sign-in. */
    compared?: { path: string; find: RegExp };
    /** The programs of the operating system that it needs. */
    programs?: readonly string[];
    /** Whether the visit fetched its OpenSearch document. */
    hasOpenSearch?: true;
}

const RECORDED: readonly Recorded[] = [
    {
        name: 'prometheus',
        host: 'metrics.test',
        start: startPrometheus,
        visit: visitPrometheus,
        planted: [CREDENTIALS.authorization],
        compared: { path: '/api/v1/status/buildinfo', find: /buildinfo$/ },
        programs: ['prometheus'],
    },
    {
        name: 'fossil',
        host: 'code.test',
        start: startFossil,
        visit: visitFossil,
        planted: [FOSSIL_PASSWORD, PERSON.mail, PERSON.phone, PERSON.name],
        compared: { path: '/taglist', find: /\/taglist$/ },
        programs: ['fossil'],
    },
    {
        name: 'verdaccio',
        host: 'npm.test',
        start: startFilledRegistry,
        visit: visitVerdaccio,
        planted: [CREDENTIALS.authorization, CREDENTIALS.password],
        compared: { path: '/-/verdaccio/data/packages', find: /data\/packages$/ },
    },
    {
        name: 'json-server',
        host: 'posts.test',
        start: () => startJsonServer(postsDatabase()),
        visit: visitPosts,
        planted: [CREDENTIALS.authorization, CREDENTIALS.token, PERSON.mail, PERSON.phone, PERSON.name],
        compared: { path: '/profile', find: /\/profile$/ },
    },
    {
        name: 'shaarli',
        host: 'bookmarks.test',
        start: startFilledBookmarks,
        visit: visitShaarli,
        planted: [PERSON.mail, PERSON.phone, PERSON.name],
        compared: { path: '/tags/list', find: /\/tags\/list$/ },
        programs: ['php', 'shaarli'],
        hasOpenSearch: true,
    },
    {
        name: 'django-admin',
        host: 'members.test',
        start: startDjangoAdmin,
        visit: visitDjangoAdmin,
        planted: [OPERATOR.password],
        programs: ['django'],
    },
];

describe('routebook inspect, on Chromium’s recordings of third-party applications', () => {
    let browser: Browser;
    let world: World;
    let folder: string;

    before(async function () {
        needs(this, 'chromium');
        const hosts = RECORDED.map(({ host }): [string, string[]] => [host, ['127.0.0.1']]);
        [browser, world] = await Promise.all([openBrowser(), openWorld({ config: { egressHosts: new Map(hosts) } })]);
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-recordings-'));
    });

    after(async () => {
        await browser?.close();
        await world?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    for (const { name, host, start, visit, planted, compared, programs = [], hasOpenSearch } of RECORDED) {
        describe(name, () => {
            let app: { port: number; stop: () => Promise<void> };
            let har: string;
            let inspected: Inspected;
            const offered: ExampleCandidate[] = [];

            before(async function () {
                needs(this, ...programs);
                app = await start();
                har = joinPath(folder, `${name}.har`);
                await recordHar(browser, har, (context) => visit(context, `http://${host}:${app.port}`));
                inspected = await inspect(
                    { har },
                    {
                        isPortAllowed: () => true,
                        confirmExample: (candidate) => {
                            offered.push(candidate);
                            return true;
                        },
                    },
                );
            });

            after(() => app?.stop());

            it('finds at least nine of ten routes, with method, template and params right, and at most one of ten too many', () => {
                const { routes, right, missing, tooMany } = check(inspected.package, truthOf(name));
                expect(right / routes, `missing or wrong:\n${missing.join('\n')}\nthere instead:\n${tooMany.join('\n')}`).to.be.at.least(
                    0.9,
                );
                expect(tooMany.length / routes, `too many:\n${tooMany.join('\n')}`).to.be.at.most(0.1);
                expect(inspected.package.site).to.equal(host);
            });

            it('passes the rules of publishing', () => {
                const verdict = checkPackage(inspected.package, { isPortAllowed: () => true });
                expect(verdict.ok, JSON.stringify(verdict)).to.equal(true);
            });

            it('repeats no credential and no personal data: not in the draft, the report or the examples it offers', () => {
                const recording = readFileSync(har, 'utf8');
                const output = JSON.stringify([inspected, offered]);
                for (const text of planted) {
                    expect(
                        spellings(text).some((one) => recording.includes(one)),
                        'the recording holds it',
                    ).to.equal(true);
                    for (const one of spellings(text)) expect(output).not.to.include(one);
                }
                const kinds = new Set(inspected.report.redacted.map(({ kind }) => kind));
                if (planted.some((text) => text !== PERSON.mail && text !== PERSON.phone && text !== PERSON.name))
                    expect(kinds).to.include('a credential');
                if (planted.includes(PERSON.mail)) expect([...kinds]).to.include.members(['a mail address', 'a phone number']);
            });

            it('contains no recorded value without the contributor’s consent: then there are no examples', async () => {
                const silent = await inspect({ har }, { isPortAllowed: () => true });
                expect(silent.package.endpoints.flatMap(({ examples = [] }) => examples)).to.deep.equal([]);
                expect(JSON.stringify(silent.package)).not.to.match(/"(?:example|default)":/);
            });

            if (hasOpenSearch) {
                it('recognises its OpenSearch document, which becomes no endpoint', () => {
                    expect(inspected.report.dropped.map(({ what }) => what)).to.include('Descriptions of searches');
                    expect(inspected.package.endpoints.map(({ url }) => url).join()).not.to.include('open-search');
                });
            }

            if (compared === undefined) return;

            it('fetches the right data once it is published', async () => {
                const ada = await join(world, { plan: 'pro' });
                const published = await ada.publish(inspected.package);
                expect(published.status, JSON.stringify(published.body)).to.equal(201);
                const reads = inspected.package.endpoints.filter(({ examples }) => examples !== undefined);
                expect(reads.length).to.be.greaterThan(3);
                for (const { name: endpoint, examples = [], response } of reads) {
                    const call = () => ada.fetch(host, endpoint, examples[0]?.params ?? {});
                    const first = await call();
                    // A page is converted to Markdown within half a second, which a busy machine may not have.
                    const answer = /too much work/.test(JSON.stringify(first.body)) ? await call() : first;
                    expect(answer.status, `${endpoint} ${JSON.stringify(answer.body)}`).to.equal(200);
                    if (response?.select !== undefined) expect(dataOf<{ items: unknown[] }>(answer).items, endpoint).not.to.be.empty;
                }
                const endpoint = inspected.package.endpoints.find(({ url }) => compared.find.test(url));
                const fetched = dataOf<Record<string, unknown>>(await ada.fetch(host, endpoint?.name ?? ''));
                const asked = await fetch(`http://127.0.0.1:${app.port}${compared.path}`);
                if (endpoint?.response?.select !== undefined) {
                    const page = await asked.text();
                    // Links are absolute in a response, and not always on a page.
                    for (const item of fetched['items'] as Record<string, string>[])
                        for (const text of Object.values(item)) if (!URL.canParse(text)) expect(page).to.include(text);
                } else if (endpoint?.response?.type === 'html') {
                    const title = /<title>([^<]+)/.exec(await asked.text())?.[1];
                    expect(fetched['title']).to.equal(title);
                } else {
                    // Some responses contain the requested host.
                    const own: unknown = JSON.parse((await asked.text()).replaceAll('127.0.0.1', host));
                    expect(fetched).to.deep.equal(Array.isArray(own) ? { items: own } : own);
                }
            });
        });
    }
});

/** The forms of a text in headers, JSON, forms and URLs; the credential only of `Bearer …`. */
function spellings(text: string): string[] {
    const bare = text.replace(/^Bearer /, '');
    return [bare, encodeURIComponent(bare), new URLSearchParams({ '': bare }).toString().slice(1)];
}

async function startFilledBookmarks() {
    const shaarli = await startShaarli();
    for (const [title, tags] of [
        ['Green tea', 'tea green'],
        ['Black tea', 'tea'],
        ['Coffee', 'coffee beans'],
        ['Cups', 'cups'],
    ] as const)
        await shaarli.add({ url: `https://${title.replace(' ', '').toLowerCase()}.example/`, title, tags });
    return shaarli;
}

async function startFilledRegistry() {
    const server = await startVerdaccio();
    const base = `http://127.0.0.1:${server.port}`;
    for (const [name, version] of [
        ['tea-kettle', '1.0.0'],
        ['tea-kettle', '2.1.0'],
        ['tea-pot', '1.0.0'],
        ['@harbour/rope', '1.0.0'],
    ] as const) {
        const body = publication(name, version, { description: `About ${name}`, tarball: `${name} ${version}` });
        const headers = { 'content-type': 'application/json' };
        await fetch(`${base}/${name.replace('/', '%2f')}`, { method: 'PUT', headers, body: JSON.stringify(body) });
    }
    return server;
}
