import { join as joinPath } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { resultLine } from '../../cli/batches/follow-batch.ts';
import type { EndedItem } from '../../cli/client/index.ts';
import { runCommandLine } from '../../cli/run-command-line.ts';
import { readSettings } from '../../cli/settings.ts';
import { createTerminal } from '../../cli/terminal.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';

/** Every command that lists something, and what it asks the server for. */
const LISTS: Record<string, string> = {
    'list --category commerce --verified --sort name --cursor c': '/v1/schemas?category=commerce&verified=true&sort=name&limit=20&cursor=c',
    'search shoes': '/v1/schemas?q=shoes&limit=20',
    'search running shoes': '/v1/schemas?q=running%20shoes&limit=20',
    categories: '/v1/categories',
    'versions shop.example': '/v1/schemas/shop.example/versions?limit=20',
    'find shoes in my size': '/v1/endpoints?task=shoes%20in%20my%20size&limit=5',
    'find shoes --category commerce --effect read --site shop.example --verified --cursor c':
        '/v1/endpoints?task=shoes&category=commerce&effect=read&site=shop.example&verified=true&limit=5&cursor=c',
    'batch list --status running': '/v1/batches?limit=20&status=running',
    'job list --status failed --site shop.example --batch bat_1': '/v1/jobs?limit=20&status=failed&site=shop.example&batch_id=bat_1',
    'claim list shop.example': '/v1/sites/shop.example/claims?limit=100',
    'connections list': '/v1/connections?limit=100',
    'monitor list --status active': '/v1/monitors?limit=20&status=active',
    'monitor changes mon_1': '/v1/monitors/mon_1/changes?limit=20',
    'monitor runs mon_1': '/v1/monitors/mon_1/runs?limit=20',
    'webhook list': '/v1/webhooks?limit=100',
    'webhook deliveries whk_1 --status failed': '/v1/webhooks/whk_1/deliveries?limit=20&status=failed',
};

describe('the lists of routebook', () => {
    let server: Site;
    let shell: CommandLine;
    let pages: object[][];

    before(async () => {
        server = await openSite(({ url = '' }, response) => {
            const page = Number(new URL(url, 'http://server').searchParams.get('cursor')) || 0;
            const next = page + 1 < pages.length ? String(page + 1) : null;
            const pagination = { limit: 100, next_cursor: next, total: pages.flat().length };
            response.setHeader('content-type', 'application/json');
            response.end(JSON.stringify({ success: true, data: pages[page], meta: { pagination } }));
        });
        shell = openCommandLine();
    });
    after(async () => {
        shell.close();
        await server.close();
    });

    it('ask the server only for what the contract has, with the common options too', async () => {
        pages = [[]];
        for (const [command, path] of Object.entries(LISTS)) {
            server.seen.length = 0;
            const ran = await shell.run([...command.split(' '), '--json', '--server', `http://127.0.0.1:${server.port}`]);
            expect(ran.code, `${command}: ${ran.stdout}`).to.equal(0);
            expect(
                server.seen.map((request) => request.path),
                command,
            ).to.deep.equal([path]);
        }
    });

    it('go on to the first jobs that match', async () => {
        const list = ['job', 'list', '--status', 'failed', '--server', `http://127.0.0.1:${server.port}`];
        pages = [[], [], [{ job_id: 'job_1' }], [{ job_id: 'job_0' }]];
        expect((await shell.run([...list, '--json'])).json['jobs']).to.deep.equal([{ job_id: 'job_1' }]);
        pages = [[], []];
        expect((await shell.run(list)).stdout)
            .to.include('No jobs.')
            .and.include('job add SITE ENDPOINT');
    });

    describe('on a terminal of 80 columns', () => {
        /** What the terminal shows, stdout and stderr in order. */
        async function shown(...args: string[]): Promise<string[]> {
            let text = '';
            const screen = { isTTY: true, columns: 80, write: (part: string) => (text += part) };
            const settings = readSettings({ NO_COLOR: '1', ROUTEBOOK_URL: `http://127.0.0.1:${server.port}` });
            await runCommandLine(args, createTerminal(settings, { stdin: Readable.from([]), stdout: screen, stderr: screen }), settings);
            return text.trimEnd().split('\n');
        }

        it('keep what is printed apart from the progress of work', async () => {
            let text = '';
            const screen = { isTTY: true, columns: 80, write: (part: string) => (text += part) };
            const terminal = createTerminal({ mayColour: false }, { stdin: Readable.from([]), stdout: screen, stderr: screen });
            const progress = terminal.progress('0 of 2');
            await eventually(
                async () => text,
                (now) => now.endsWith('0 of 2'),
            );
            terminal.print('first');
            progress.end();
            terminal.print('second');
            expect(text)
                .to.match(/0 of 2\r\u001b\[2Kfirst\n/)
                .and.match(/second\n$/);
        });

        it('show a result of a batch in one line', () => {
            const screen = { isTTY: true, columns: 40, write: () => {} };
            const terminal = createTerminal({ mayColour: false }, { stdin: Readable.from([]), stdout: screen, stderr: screen });
            const item = {
                job_id: 'job_1',
                custom_id: 'boots',
                status: 'succeeded',
                result: { data: { id: 1, title: 'Leather boots of the shop' } },
            };
            expect(resultLine(item as unknown as EndedItem, terminal)).to.equal('✓ boots  {"id":1,"title":"Leather boots…');
            const failed = { job_id: 'job_2', custom_id: null, status: 'failed', error: { code: 'UPSTREAM_ERROR' } };
            expect(resultLine(failed as unknown as EndedItem, terminal)).to.equal('✗ job_2  UPSTREAM_ERROR');
        });

        it('name the endpoint of a job beside the longest code', async () => {
            const job = {
                job_id: `job_${'0'.repeat(22)}`,
                status: 'failed',
                site: 'a-shop.example',
                endpoint: 'search_products',
                credits_used: 0,
            };
            pages = [[{ ...job, error: { code: 'UPSTREAM_INVALID_RESPONSE' }, created_at: '2026-11-29T05:15:35.123Z' }]];
            expect((await shown('job', 'list'))[1]).to.match(/^job_0{22} {2}UPSTREAM_INVALID_RESPONSE {2}search_products\b/);
        });

        it('show the value of a claim in full, and its reason in the lines that it needs', async () => {
            const value = `routebook-claim=${'v'.repeat(32)}`;
            const reason = '_routebook.a-shop.example has no TXT record. https://a-shop.example/.well-known/routebook.txt cannot be read.';
            pages = [[{ claim_id: 'clm_1', status: 'failed', expires_at: '2026-12-06T10:52:51.540Z', value, reason }]];
            expect(await shown('claim', 'list', 'a-shop.example')).to.deep.equal([
                'claim       clm_1',
                'status      failed',
                'expires     2026-12-06 10:52Z',
                `value       ${value}`,
                'reason      _routebook.a-shop.example has no TXT record.',
                '            https://a-shop.example/.well-known/routebook.txt cannot be read.',
            ]);
        });

        it('break commands that are too long so that they can be pasted', async () => {
            const fetch = {
                site: 'a-shop.example',
                endpoint: 'convert',
                params: { base_currency_id: 'btc-bitcoin', quote_currency_id: "usd-us-dollar's", amount: 1 },
                dry_run: true,
            };
            const found = { site: 'a-shop.example', endpoint: 'convert', description: '', effect: 'write', required: [], hosted: true };
            const priced = { ...found, credits: 1, billing_unit: 'request', verified: false };
            pages = [
                [
                    { ...priced, fetch },
                    { ...priced, fetch: { ...fetch, params: { amount: 1, currency: 'bitcoin' } } },
                ],
            ];
            expect(await shown('find', 'convert bitcoin')).to.deep.equal([
                'a-shop.example convert  1 credit a request, write',
                '  $ routebook fetch a-shop.example convert \\',
                `        --params '{"base_currency_id":"btc-bitcoin",`,
                `            "quote_currency_id":"usd-us-dollar'\\''s",`,
                `            "amount":1}' \\`,
                '        --dry-run',
                '',
                'a-shop.example convert  1 credit a request, write',
                '  $ routebook fetch a-shop.example convert \\',
                `        --params '{"amount":1,"currency":"bitcoin"}' \\`,
                '        --dry-run',
            ]);
        });

        it('say what to publish for a claim in 80 columns, with the value in one line', async () => {
            const value = `routebook-claim=${'v'.repeat(32)}`;
            const domain = 'a-shop.example';
            const methods = [{ dns: `_routebook.${domain} TXT ${value}` }, { url: `https://${domain}/.well-known/routebook.txt` }];
            const claim = { claim_id: `clm_${'0'.repeat(22)}`, domain, value, methods, expires_at: '2026-12-07T09:11:00.000Z' };
            pages = [claim as unknown as object[]];
            const lines = await shown('claim', 'start', domain);
            expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
            expect(lines).to.include(`        ${value}`);
        });

        it('say how to publish what was pulled in 80 columns, with the hash in one piece', async () => {
            const hash = '0'.repeat(64);
            pages = [{ ...aPackage('a-shop.example'), version: 1, version_hash: hash, published_at: '' } as unknown as object[]];
            const lines = await shown('pull', 'a-shop.example', '--force', '--out', joinPath(shell.folder, 'a.json'));
            const [command, ...options] = lines.slice(2).map((line) => line.trim());
            expect(command).to.match(/^routebook push .*a\.json \\$/);
            expect(options).to.deep.equal(['--if-match \\', hash]);
            expect(lines.filter((line) => line.includes(hash) && line.length > 80)).to.deep.equal([]);
        });

        it('show no progress of work that could not begin', async () => {
            let running = 0;
            const progress = () => {
                running++;
                return { update: () => {}, end: () => running-- };
            };
            const screen = { isTTY: true, columns: 80, write: () => {} };
            const terminal = createTerminal({ mayColour: false }, { stdin: Readable.from([]), stdout: screen, stderr: screen });
            expect(await runCommandLine(['inspect', 'nothing.har'], { ...terminal, progress }, readSettings({}))).to.equal(1);
            expect(running).to.equal(0);
        });

        it('break descriptions between words, and say below how to continue', async () => {
            const found = {
                site: 'a-shop.example',
                endpoint: 'product',
                description: 'One product of the shop with its price. Use it for what is in stock, and how much of it is left.',
                effect: 'read',
                required: [
                    { name: 'id', type: 'integer', description: 'Number of the product, as the search of the shop and its pages show it.' },
                    { name: 'currency', type: 'string', description: 'Three letters.' },
                ],
                credits: 1,
                billing_unit: 'request',
                verified: false,
                hosted: true,
                fetch: null,
            };
            pages = [[found], []];
            expect(await shown('find', 'what a product costs')).to.deep.equal([
                'a-shop.example product  1 credit a request',
                '  One product of the shop with its price. Use it for what is in stock, and how',
                '  much of it is left.',
                '    id        integer  Number of the product, as the search of the shop and its',
                '              pages show it.',
                '    currency  string  Three letters.',
                '1 of 1; --cursor 1 continues from here',
            ]);
        });
    });

    it('show every claim on a domain', async () => {
        pages = Array.from({ length: 12 }, (_, page) => Array.from({ length: 100 }, (_, index) => ({ claim_id: `clm_${page}x${index}` })));
        const ran = await shell.run(['claim', 'list', 'shop.example', '--json', '--server', `http://127.0.0.1:${server.port}`]);
        expect(ran.json['claims']).to.have.length(1200);
    });
});
