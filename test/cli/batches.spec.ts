import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { isTimeKnown } from '../../cli/batches/follow-batch.ts';
import { Routebook, RoutebookError } from '../../cli/client/index.ts';
import { readParams } from '../../cli/package/read-params.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

interface Line {
    custom_id: string;
    status: string;
    result: { data: { id: number } } | null;
}

describe('batches and jobs on the command line and in the client', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;
    let shell: CommandLine;
    let client: Routebook;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000 } });
        await ada.publish(shopPackage(shop.port));
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
        client = new Routebook({ baseUrl: world.base, apiKey: ada.apiKey ?? '' });
    });
    after(async () => {
        shop.letGo();
        shell.close();
        await world.close();
        await shop.close();
    });

    const PRODUCT = ['--site', SHOP, '--endpoint', 'product'];
    const write = (name: string, text: string | Buffer) => {
        writeFileSync(joinPath(shell.folder, name), text);
        return name;
    };
    const linesOf = (text: string): Line[] =>
        text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as Line);
    const run = async (...args: string[]) => {
        const ran = await shell.run(args);
        expect(ran.code, ran.stderr).to.equal(0);
        return ran;
    };
    const idOf = (text: string) => /bat_\w+/.exec(text)?.[0] ?? '';

    it('run a call for each row of CSV, and write the results', async () => {
        const csv = write('products.csv', 'sku,custom_id,note\n1,a,first\n2,b,"second, third"\n3,c,\n');
        const ran = await run('batch', 'run', csv, ...PRODUCT, '--map', 'sku=id', '--out', 'results.ndjson');
        const lines = linesOf(readFileSync(joinPath(shell.folder, 'results.ndjson'), 'utf8'));
        expect(lines.map(({ custom_id: name, status, result }) => [name, status, result?.data.id])).to.have.deep.members([
            ['a', 'succeeded', 1],
            ['b', 'succeeded', 2],
            ['c', 'succeeded', 3],
        ]);
        expect(ran.stderr).to.include('3 succeeded').and.include('3 credits used');
        expect((await run('batch', 'list')).stdout)
            .to.include('succeeded')
            .and.include(idOf(ran.stderr));
        expect((await run('batch', 'show', idOf(ran.stderr))).stdout).to.include('3 used of at most 3');
        expect((await run('job', 'list', '--batch', idOf(ran.stderr))).stdout.match(/job_\w+/g)).to.have.length(3);
    });

    it('take a mapped param from its column alone, whatever the order of the columns', async () => {
        for (const text of ['sku,id\n1,9\n', 'id,sku\n9,1\n']) {
            const ran = await run('batch', 'run', write('both.csv', text), ...PRODUCT, '--map', 'sku=id');
            expect(linesOf(ran.stdout).map(({ result }) => result?.data.id)).to.deep.equal([1]);
        }
    });

    for (const [form, text] of [
        ['a JSON array', '[{"id": 1}, {"params": {"id": 2}, "custom_id": "two"}]'],
        ['lines of JSON', '{"id": 1}\n\n{"params": {"id": 2}, "custom_id": "two"}\n'],
    ] as const) {
        it(`accept ${form}, piped in too`, async () => {
            const ran = await shell.run(['batch', 'run', '-', ...PRODUCT], { input: text });
            expect(ran.code, ran.stderr).to.equal(0);
            expect(linesOf(ran.stdout).map(({ custom_id: name }) => name)).to.have.members([null, 'two']);
        });
    }

    it('show the price of a file before anything runs', async () => {
        const ran = await run('batch', 'run', write('two.csv', 'id\n1\n2\n'), ...PRODUCT, '--dry-run');
        expect(ran.stdout).to.include('2 items would cost at most 2 credits.');
        const rows = Array.from({ length: 2000 }, () => '1\n').join('');
        const env = { ROUTEBOOK_API_KEY: (await join(world)).apiKey ?? '' };
        const order = ['batch', 'run', write('long.csv', `id\n${rows}`), ...PRODUCT, '--dry-run', '--expires-in', '60'];
        const long = await shell.run(order, { env });
        expect(long.stdout).to.match(/take about \d+ (min|h|days) at the limits of your plan/);
        expect(long.stdout).to.include('! EXPIRES_BEFORE_END: some items would expire before they start.').and.include('--expires-in');
    });

    it('name each wrong item, and exit with 1', async () => {
        const ran = await shell.run(['batch', 'run', write('wrong.csv', 'id\n1\n0\n'), ...PRODUCT]);
        expect(ran.code).to.equal(1);
        expect(ran.stderr).to.include('/items/1/params/id').and.include('/items/1 is item 2 of').and.include('wrong.csv.');
        const none = await shell.run(['batch', 'run', 'no-such.csv', ...PRODUCT, '--json']);
        expect([none.code, none.error['code']]).to.deep.equal([1, 'FILE_NOT_FOUND']);
        const ids = write('ids.csv', 'id\n1\n');
        for (const pairs of [['id'], ['sku=id'], ['id=id', 'id=custom_id'], ['id=id', 'sku=id']]) {
            const map = await shell.run(['batch', 'run', ids, ...PRODUCT, ...pairs.flatMap((pair) => ['--map', pair]), '--json']);
            expect([map.code, map.error['code']]).to.deep.equal([2, 'WRONG_USAGE']);
        }
        const columns = await shell.run(['batch', 'run', write('sku.csv', 'sku\n1\n'), ...PRODUCT]);
        expect(columns.stderr).to.include('No column of sku.csv is a param of the endpoint (id)').and.include('--map sku=param');
        for (const header of ['id,note,id', 'custom_id,id,custom_id', 'sku,sku,note']) {
            const order = ['batch', 'run', write('twice.csv', `${header}\n1,2,3\n`), ...PRODUCT, '--json'];
            const twice = await shell.run(header.startsWith('sku') ? [...order, '--map', 'sku=id'] : order);
            expect([twice.code, twice.error['code']]).to.deep.equal([1, 'REPEATED_COLUMN']);
            expect(twice.error['message']).to.include(`more than one column ${header.split(',')[0]}`);
        }
        const quotes = await shell.run(['batch', 'run', write('quotes.csv', 'id\n"1\n'), ...PRODUCT]);
        expect(quotes.stderr).to.include('Row 2 of quotes.csv has quotes that do not end.');
        const more = await shell.run(['batch', 'run', write('more.csv', 'id\n1\n"2"3\n'), ...PRODUCT]);
        expect(more.stderr).to.include('Row 3 of more.csv goes on after a closing quote.');
    });

    it('refuse a row with more values than columns: a call with a part of its text would be wrong', async () => {
        const wide = await shell.run(['batch', 'run', write('wide.csv', 'id\n1\n2, 3\n'), ...PRODUCT, '--json']);
        expect([wide.code, wide.error['code']]).to.deep.equal([1, 'INVALID_CSV']);
        expect(wide.error['message']).to.include('Row 3 of wide.csv has more values than the header has columns');
        for (const [text, map] of [
            ['id\n1,\n', []],
            ['note\nx,1\n', ['--map', 'column_2=id']],
        ] as const) {
            const ran = await run('batch', 'run', write('spare.csv', text), ...PRODUCT, ...map, '--dry-run');
            expect(ran.stdout, text).to.include('1 item');
        }
    });

    it('refuse a file that is not UTF-8: calls would be made with replaced letters', async () => {
        for (const [name, encoding] of [
            ['latin.csv', 'latin1'],
            ['wide.csv', 'utf16le'],
        ] as const) {
            const bytes = Buffer.from('\ufeffid,custom_id\n1,M\u00fcnchen\n'.slice(encoding === 'latin1' ? 1 : 0), encoding);
            const piped = await shell.run(['batch', 'run', '-', ...PRODUCT, '--json'], { input: bytes });
            expect([piped.code, piped.error['code']], name).to.deep.equal([1, 'NOT_UTF8']);
            const ran = await shell.run(['batch', 'run', write(name, bytes), ...PRODUCT]);
            expect(ran.stderr).to.include(`${name} is not UTF-8. Save it as UTF-8; spreadsheets call it "CSV UTF-8".`);
        }
    });

    it('read TRUE and False, as spreadsheets and Python write them', () => {
        const params = [{ name: 'new', source: 'query' as const, required: false, schema: { type: 'boolean' } }];
        for (const [text, value] of [
            ['TRUE', true],
            ['False', false],
            ['yes', 'yes'],
        ] as const)
            expect(readParams({ param: [`new=${text}`] }, params)).to.deep.equal({ new: value });
    });

    it('create nothing if the results cannot be written', async () => {
        const known = await world.app.db('batches').count();
        const rows = write('rows.csv', 'id\n1\n');
        const ran = await shell.run(['batch', 'run', rows, ...PRODUCT, '--out', 'no-such-folder/results.ndjson', '--json']);
        expect([ran.code, ran.error['code']]).to.deep.equal([1, 'FILE_UNWRITABLE']);
        expect(await world.app.db('batches').count()).to.deep.equal(known);
        const folder = await shell.run(['batch', 'run', '.', ...PRODUCT, '--json']);
        expect([folder.code, folder.error['code']]).to.deep.equal([1, 'FILE_UNREADABLE']);
    });

    it('are paused and resumed, with other limits too', async () => {
        const rows = write('limited.csv', 'id\n1\n2\n');
        const ran = await shell.run([
            'batch',
            'run',
            rows,
            ...PRODUCT,
            '--max-credits',
            '1',
            '--max-age',
            '0',
            '--timeout',
            '9000',
            '--json',
        ]);
        expect([ran.code, ran.error['code']]).to.deep.equal([1, 'BATCH_PAUSED']);
        const id = idOf(ran.stderr);
        expect((await run('batch', 'pause', id)).stdout).to.include('paused');
        expect((await run('batch', 'resume', id, '--max-credits', '2')).stdout).to.include(`routebook batch follow ${id}`);
        expect(linesOf((await run('batch', 'follow', id)).stdout)).to.have.length(2);
    });

    it('create a job for one call, with its result if one waits', async () => {
        const added = await run('job', 'add', SHOP, 'product', '-p', 'id=4');
        const id = /job_\w+/.exec(added.stdout)?.[0] ?? '';
        expect((await run('job', 'show', id, '--wait', '--json')).json).to.deep.include({ status: 'succeeded', params: { id: 4 } });
        const waited = await run(
            'job',
            'add',
            SHOP,
            'product',
            '-p',
            'id=5',
            '--max-credits',
            '1',
            '--expires-in',
            '60',
            '--wait',
            '--json',
        );
        expect(waited.json).to.deep.include({ status: 'succeeded', params: { id: 5 } });
    });

    it('name the columns that are not sent, which may be mistyped params', async () => {
        const csv = write('notes.csv', 'id,note,qty\n1,3,\n2,4,\n');
        const ran = await run('batch', 'run', csv, ...PRODUCT, '--dry-run');
        expect(ran.stderr).to.include('! not sent: note, qty').and.include('--map');
        const lines = write('notes.ndjson', '{"id": 1, "note": "blue"}\n{"params": {"id": 2}}\n');
        expect((await run('batch', 'run', lines, ...PRODUCT, '--dry-run')).stderr).to.include('! not sent: note');
        const all = write('ids.csv', 'custom_id,id\na,1\n');
        expect((await run('batch', 'run', all, ...PRODUCT, '--dry-run')).stderr).not.to.include('!');
        expect((await run('batch', 'run', csv, ...PRODUCT, '--map', 'note=id', '--dry-run')).stderr).to.include('! not sent: id, qty');
    });

    it('continue after Ctrl-C, which says how to return', async () => {
        const held = write('held.ndjson', '{"params": {}}\n{"params": {}}\n');
        const waiting = shop.waiting(1);
        const ran = await shell.run(['batch', 'run', held, '--site', SHOP, '--endpoint', 'held'], { interrupt: waiting });
        const id = idOf(ran.stderr);
        expect(ran.stderr).to.include(`routebook batch follow ${id}`);
        expect(ran.code, 'as shells expect of a program that Ctrl-C ends').to.equal(130);
        shop.letGo();
        const followed = await run('batch', 'follow', id);
        expect(linesOf(followed.stdout)).to.have.length(2);
    });

    it('are followed on while the server restarts, and say how to return if it stays away', async () => {
        const rows = write('restart.csv', 'id\n1\n2\n');
        let lost = 4;
        let isAway = false;
        const front = await openSite(async (request, response) => {
            const isResults = request.url?.includes('/results') === true;
            if (isResults && lost-- > 0) return void response.destroy();
            const { method = 'GET', headers, url } = request;
            const kept = { authorization: headers.authorization ?? '', 'content-type': headers['content-type'] ?? 'application/json' };
            const answer = await fetch(`${world.base}${url}`, {
                method,
                headers: kept,
                ...(method === 'POST' ? { body: request.text } : {}),
            });
            const refused = { 'content-type': 'application/json', 'retry-after': '3600' };
            const error = { code: 'SERVICE_UNAVAILABLE', message: 'Away.', status: 503, retryable: true, retry_after: 3600 };
            if (isResults && isAway) return void response.writeHead(503, refused).end(JSON.stringify({ success: false, error }));
            response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
        });
        const through = (...args: string[]) => shell.run(args, { env: { ROUTEBOOK_URL: `http://127.0.0.1:${front.port}` } });
        const ran = await through('batch', 'run', rows, ...PRODUCT, '--out', 'restart.ndjson');
        expect(ran.code, ran.stderr).to.equal(0);
        expect(linesOf(readFileSync(joinPath(shell.folder, 'restart.ndjson'), 'utf8'))).to.have.length(2);
        isAway = true;
        const cut = await through('batch', 'run', rows, ...PRODUCT);
        expect(cut.code).to.equal(1);
        expect(cut.stderr).to.include(`The batch continues. Resume with: routebook batch follow ${idOf(cut.stderr)}`);
        const unknown = await shell.run(['batch', 'follow', 'bat_none', '--out', 'restart.ndjson']);
        expect(readFileSync(joinPath(shell.folder, 'restart.ndjson'), 'utf8'), 'which keeps its lines').not.to.equal('');
        expect(unknown.stderr).to.include('BATCH_NOT_FOUND').and.not.include('continues');
        await front.close();
    });

    it('are created without waiting, cancelled and retried', async () => {
        const many = write('many.csv', `id\n${Array.from({ length: 500 }, (_, at) => at + 1).join('\n')}\n`);
        const id = idOf((await run('batch', 'run', many, ...PRODUCT, '--detach')).stdout);
        expect((await run('batch', 'cancel', id)).stdout).to.include('cancelled');
        expect((await run('batch', 'retry', id, '--code', 'UPSTREAM_TIMEOUT')).stdout).to.include('No items to retry');
        const again = await run('batch', 'retry', id);
        expect(again.stdout).to.include('run again');
        await run('batch', 'follow', id, '--out', 'again.ndjson');
    });

    it('exit with 1 if items failed, and show how to run them again', async () => {
        const file = write('status.csv', 'code\n404\n');
        const ran = await shell.run(['batch', 'run', file, '--site', SHOP, '--endpoint', 'status']);
        expect(ran.code).to.equal(1);
        expect(ran.stderr).to.include('1 failed').and.include('routebook batch retry');
    });

    it('of the client return the result of one call, or its error', async () => {
        const { data } = await client.jobs.create<{ id: number }>({ site: SHOP, endpoint: 'product', params: { id: 7 } }).result();
        expect(data.id).to.equal(7);
        const failed = client.jobs.create({ site: SHOP, endpoint: 'status', params: { code: 404 } });
        const error = await failed.result().then(
            () => undefined,
            (reason: unknown) => reason as RoutebookError,
        );
        expect([error instanceof RoutebookError, error?.code]).to.deep.equal([true, 'UPSTREAM_STATUS']);
        const { job_id: id } = await failed;
        const shown = await run('job', 'show', id, '--json');
        expect(shown.json['status']).to.equal('failed');
    });

    it('show no remaining time while they wait for a site or for credits', () => {
        const known = ([null, 'limits', 'site', 'credits', 'storage', 'operator'] as const).filter((waiting) =>
            isTimeKnown({ eta_seconds: 7, waiting_for: waiting }),
        );
        expect(known).to.deep.equal([null, 'limits']);
        expect(isTimeKnown({ eta_seconds: null, waiting_for: null })).to.equal(false);
    });

    it('of the client yield each item when it has ended', async () => {
        const items = Array.from({ length: 250 }, (_, at) => ({ params: { id: at + 1 }, custom_id: `p${at}` }));
        const seen: (string | null)[] = [];
        for await (const item of client.batches.run({ defaults: { site: SHOP, endpoint: 'product' }, items })) seen.push(item.custom_id);
        expect(seen).to.have.members(items.map(({ custom_id: name }) => name));
    });

    it('of the client report that a batch waits for its owner', async () => {
        const items = [1, 2, 3].map((id) => ({ params: { id } }));
        const order = { defaults: { site: SHOP, endpoint: 'product' }, items, max_credits: 1 };
        const seen: string[] = [];
        let code = '';
        try {
            for await (const { job_id: id } of client.batches.run(order)) seen.push(id);
        } catch (error) {
            ({ code } = error as RoutebookError);
        }
        expect([code, seen.length]).to.deep.equal(['BATCH_PAUSED', 1]);
    });

    it('of the client send more than ten thousand items as lines', async () => {
        const rich = await join(world, { plan: 'enterprise', credits: 100_000, overrides: { perMinute: 1, perHour: 1, perDay: 1 } });
        const theirs = new Routebook({ baseUrl: world.base, apiKey: rich.apiKey ?? '' });
        const items = Array.from({ length: 10_500 }, (_, at) => ({ params: { id: at + 1 } }));
        const batch = await theirs.batches.create({
            name: 'many',
            defaults: { site: SHOP, endpoint: 'product' },
            items,
            metadata: { a: 'b' },
        });
        expect(batch).to.deep.include({ name: 'many', metadata: { a: 'b' } });
        expect(batch.counts.total).to.equal(10_500);
        await theirs.batches.cancel(batch.batch_id);
        const long = Array.from({ length: 130 }, () => ({ params: { id: 0, note: 'x'.repeat(64 * 1024) } }));
        const refused = await theirs.batches.dryRun({ defaults: { site: SHOP, endpoint: 'product' }, items: long }).catch((error) => error);
        expect((refused as RoutebookError).code, 'more than a JSON body may have').to.equal('VALIDATION_ERROR');
        await eventually(
            () => theirs.batches.get(batch.batch_id),
            ({ status }) => status === 'cancelled',
        );
    });
});
