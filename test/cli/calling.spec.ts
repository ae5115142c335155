import { writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { NO_POLICY } from '../../shared/domain/site/site-policy.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

describe('calling sites from the command line', () => {
    let world: World;
    let shop: Shop;
    let shell: CommandLine;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        const ada = await join(world);
        await ada.publish(shopPackage(shop.port));
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
    });

    after(async () => {
        shell.close();
        await world.close();
        await shop.close();
    });

    it('prints only the result on stdout, so that it can be piped on, and the cost on stderr', async () => {
        const ran = await shell.run(['fetch', SHOP, 'product', '--param', 'id=7']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(JSON.parse(ran.stdout)).to.deep.equal({ id: 7, title: 'Product 7', price: { amount: 10 } });
        expect(ran.stderr).to.include('1 credit used').and.include('version 1').and.include('req_');
    });

    it('finds an endpoint by its task, with the command that calls it; without a match, the command that requests one', async () => {
        const task = 'place an order for a product';
        await eventually(
            async () => (await shell.run(['find', task, '--json'])).json['total'],
            (total) => Number(total) > 0,
        );
        const { json } = await shell.run(['find', task, '--site', SHOP, '--json']);
        expect(json['endpoints']).to.satisfy((found: { site: string }[]) => found.length > 0 && found.every(({ site }) => site === SHOP));
        expect(json['session_id']).to.match(/^ses_/);
        const shown = await shell.run(['find', task, '--site', SHOP]);
        expect(shown.code, shown.stderr).to.equal(0);
        expect(shown.stdout).to.include(`${SHOP} `);
        const none = await shell.run(['find', "what is my cat's horoscope"]);
        expect(none.stdout).to.include("routebook request DOMAIN --task 'what is my cat'\\''s horoscope'");
        const short = await shell.run(['find', 'horoscope', '--site', 'stars.example']);
        const [, asked = ''] = /routebook request stars\.example --task '(.+)'/.exec(short.stdout) ?? [];
        expect((await shell.run(['request', 'stars.example', '--task', asked])).code, asked).to.equal(0);
        expect(none.code).to.equal(0);
    });

    it('prints numbers with the digits that the site wrote', async () => {
        const data = '{"id":9007199254740993,"rate":0.12345678901234567891}';
        const server = await openSite((_request, response) =>
            response.setHeader('content-type', 'application/json').end(`{"success":true,"data":${data},"meta":{"credits_used":1}}`),
        );
        const other = openCommandLine({ ROUTEBOOK_URL: `http://127.0.0.1:${server.port}`, ROUTEBOOK_API_KEY: 'rb_live_test' });
        try {
            const pretty = await other.run(['fetch', SHOP, 'product', '-p', 'id:=7']);
            expect(pretty.stdout).to.include('"id": 9007199254740993,').and.include('"rate": 0.12345678901234567891\n');
            expect((await other.run(['fetch', SHOP, 'product', '-p', 'id:=7', '--json'])).stdout).to.include(`"data":${data},`);
        } finally {
            other.close();
            await server.close();
        }
    });

    it('prints the complete response as one line with --json', async () => {
        const ran = await shell.run(['fetch', SHOP, 'search', '--params', '{"n": 4}', '--max-results', '2', '--json']);
        expect(ran.stdout.trimEnd().split('\n')).to.have.length(1);
        expect(ran.json['data']).to.deep.equal({ items: [{ id: 1 }, { id: 2 }] });
        expect(ran.json['meta']).to.include({ credits_used: 2, results: 2, truncated: true, endpoint: 'search' });
    });

    it('parses name=value by the schema of the endpoint, and takes name:=json as JSON', async () => {
        const ran = await shell.run(['fetch', SHOP, 'echo', '-p', 'name=12', '-p', 'tag:=["x","y z"]', '--json']);
        expect(ran.code, ran.stdout).to.equal(0);
        expect((ran.json['data'] as Record<string, unknown>)['path']).to.equal('/echo/12?fixed=1&tag=x&tag=y%20z');
    });

    it('sends a file of this machine, and names one that it cannot send', async () => {
        writeFileSync(joinPath(shell.folder, 'cat.PNG'), Buffer.from([0, 255, 13, 10]));
        writeFileSync(joinPath(shell.folder, 'large.bin'), Buffer.alloc(1024 * 1024 + 1));
        const ran = await shell.run(['fetch', SHOP, 'upload', '-p', 'photo=@cat.PNG', '-p', 'title=A cat']);
        expect(ran.code, ran.stderr).to.equal(0);
        const sent = shop.seen.at(-1);
        expect(sent?.body).to.include('filename="cat.PNG"\r\nContent-Type: image/png\r\n');
        expect(sent?.bytes.includes(Buffer.from([0, 255, 13, 10]))).to.equal(true);
        for (const [path, why] of [
            ['none.png', 'cannot be read'],
            ['.', 'cannot be read'],
            ['large.bin', 'has more than 1048576 bytes'],
        ]) {
            const refused = await shell.run(['fetch', SHOP, 'upload', '-p', `photo=@${path}`]);
            expect([refused.code, refused.stderr], path).to.satisfy(
                ([code, said]: [number, string]) => code === 2 && said.includes(why ?? ''),
            );
        }
    });

    it('sends numbers with all their digits', async () => {
        for (const typed of [
            ['--params', '{"id": 9007199254740993}'],
            ['-p', 'id:=9007199254740993'],
            ['-p', 'id=9007199254740993'],
        ]) {
            const ran = await shell.run(['fetch', SHOP, 'product', ...typed]);
            expect(ran.code, ran.stderr).to.equal(0);
            expect(shop.seen.at(-1)?.path, typed.join(' ')).to.equal('/products/9007199254740993');
        }
    });

    it('shows with --dry-run the request and its price', async () => {
        const before = shop.seen.length;
        const ran = await shell.run(['fetch', SHOP, 'order', '--params', '{"product": 3}', '--dry-run']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.stdout).to.include(`POST http://${SHOP}:${shop.port}/`).and.include('Nothing was sent').and.include('at most 1 of your');
        expect(shop.seen.length).to.equal(before);
    });

    it('is charged once for one idempotency key', async () => {
        const args = ['fetch', SHOP, 'product', '-p', 'id=5', '--idempotency-key', 'once-and-for-all', '--json'];
        const first = await shell.run(args);
        const asked = shop.seen.length;
        const second = await shell.run(args);
        expect(second.stdout).to.equal(first.stdout);
        expect(shop.seen.length).to.equal(asked);
    });

    it('fails with exit code 1, the code of the server and every problem of the params', async () => {
        const ran = await shell.run(['fetch', SHOP, 'product', '--params', '{"id": "x", "colour": "red"}', '--json']);
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'INVALID_PARAMS', status: 400, retryable: false });
        expect((ran.error['details'] as { path: string }[]).map(({ path }) => path)).to.have.members(['/params/id', '/params/colour']);
        const slip = await shell.run(['fetch', SHOP, 'prodct', '--json']);
        expect(slip.error).to.deep.include({ code: 'ENDPOINT_NOT_FOUND', did_you_mean: ['product'] });
        const mistyped = await shell.run(['fetch', SHOP.replace('shop', 'shopp'), 'product', '--json']);
        expect(mistyped.error).to.deep.include({ code: 'SITE_NOT_FOUND', did_you_mean: [SHOP] });
    });

    it('says how to get more credits', async () => {
        const poor = await join(world, { overrides: { allowance: 0 } });
        const env = { ROUTEBOOK_API_KEY: poor.apiKey ?? '' };
        const ran = await shell.run(['fetch', SHOP, 'product', '-p', 'id=1', '--json'], { env });
        expect(ran.code).to.equal(1);
        expect(ran.error).to.include({ code: 'INSUFFICIENT_CREDITS', upgrade_to: 'starter' });
        expect(ran.stderr).to.include(String(ran.error['upgrade_url']));
    });

    it('looks a site up, the best matches of the intent first', async () => {
        const intent = ['--intent', 'place an order for something in the shop'];
        const ran = await shell.run(['catalog', SHOP, ...intent, '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.json).to.include({ domain: SHOP });
        const [best] = ran.json['endpoints'] as { name: string }[];
        expect(best?.name).to.equal('order');
        const shown = await shell.run(['catalog', SHOP, ...intent]);
        expect(shown.stdout).to.include('write').and.include('POST http://').and.include('1 credit');
        await world.app.db.transaction((trx) => setPolicy(trx, SHOP, { ...NO_POLICY, writes: false }));
        for (const price of ['product  1 credit a request', 'search  1 credit a result, up to 20', 'all_pages  1 credit a page, up to '])
            expect(shown.stdout).to.include(price);
        const less = await shell.run(['catalog', SHOP, ...intent]);
        expect(less.stdout)
            .to.match(/\d more endpoints not allowed by the site's owner/)
            .and.not.include('/echo/orders');
        await world.app.db.transaction((trx) => setPolicy(trx, SHOP, null));
        const inWords = await shell.run(['catalog', SHOP, ...'place an order for something in the shop'.split(' '), '--json']);
        expect((inWords.json['endpoints'] as { name: string }[])[0]?.name).to.equal('order');
        const short = await shell.run(['catalog', SHOP, '--intent', 'too short', '--json']);
        expect(short.error).to.include({ code: 'INTENT_TOO_SHORT' });
        const without = await shell.run(['catalog', SHOP, '--json']);
        expect(without).to.deep.include({ code: 2 });
        expect(without.error['message']).to.include(`catalog ${SHOP} --intent`);
    });
});
