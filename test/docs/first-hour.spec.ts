import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type StartedClone, startClone } from '../support/started-clone.ts';
import { needs } from '../support/system-programs.ts';

const run = promisify(execFile);
const SITE = 'warehouse.example';
/** The demo shop, under a name of another owner. */
const HOSTS = `${SITE}=127.0.0.1`;

/** The edits of a newcomer who follows the guide: a draft does not say what an endpoint is for. */
function describeEndpoints(path: string): void {
    const draft = JSON.parse(readFileSync(path, 'utf8'));
    draft.description = 'What the demo shop has in its warehouse.';
    const [product] = draft.endpoints;
    product.description = 'Says how many pieces of an article are left in the warehouse.';
    product.params[0].description = 'Number of the article.';
    product.response = { select: { title: 'title', left: 'stock' } };
    writeFileSync(path, JSON.stringify(draft));
}

describe('a newcomer’s first hour, in a terminal', () => {
    let clone: StartedClone;
    let base: string;

    before(async function () {
        needs(this, 'curl', 'npx');
        clone = await startClone({ EGRESS_HOSTS: HOSTS });
        base = `http://localhost:${clone.port}`;
    });
    after(() => clone?.close());

    /** A terminal with command-line settings of its own. */
    function terminalOf(name: string) {
        const env = clone.environment({
            XDG_CONFIG_HOME: join(clone.folder, '.data', name),
            ROUTEBOOK_URL: base,
            EGRESS_ALLOW: `127.0.0.1/32:${clone.port + 1}`,
            EGRESS_HOSTS: HOSTS,
        });
        const shell = async (line: string) => (await run('/bin/sh', ['-c', line], { cwd: clone.folder, env })).stdout;
        return { shell, routebook: async (line: string) => JSON.parse(await shell(`npx routebook ${line} --json | tail -n 1`)) };
    }

    async function openAccount(email: string): Promise<string> {
        const { shell } = terminalOf('operator');
        return JSON.parse(await shell(`npm run --silent admin -- account create --email ${email} --json`)).api_key;
    }

    it('starts the server, finds by a task, tries, brings a key, fetches in code, publishes, is verified, and is found and called by others', async () => {
        const ada = terminalOf('ada');
        const wanted = { site: 'demo-shop.example', endpoint: 'search_products' };
        await untilFound(ada, "find 'search products of the demo shop by words'", wanted);
        const curl = clone.printed.split('\n').find((text) => text.startsWith('curl ')) ?? 'false';
        expect(JSON.parse(await ada.shell(curl))).to.have.nested.property('data.items[0].title', 'Trail running shoes');

        const key = await openAccount('ada@people.example');
        await ada.routebook(`login < ${writeKey('ada', key)}`);
        const program = join(clone.folder, 'first.ts');
        writeFileSync(
            program,
            `import { Routebook } from 'routebook/client';
            const routebook = new Routebook({ baseUrl: '${base}', apiKey: '${key}' });
            const { data, meta } = await routebook.fetch({ site: 'demo-shop.example', endpoint: 'product', params: { id: 1 } });
            console.log(JSON.stringify({ data, used: meta.credits_used }));`,
        );
        const printed = JSON.parse(await ada.shell(`node ${program}`));
        expect(printed).to.deep.include({ used: 1 });
        expect(printed.data).to.include({ id: 1, title: 'Trail running shoes' });

        const url = `http://${SITE}:${clone.port + 1}/products/{id}`;
        const about = "--title 'Stock' --example id=1 --name articles_left --category commerce/product-detail";
        await ada.routebook(`init --site ${SITE} --url '${url}' ${about} --out stock.json`);
        describeEndpoints(join(clone.folder, 'stock.json'));
        await ada.routebook('lint stock.json');
        expect(await ada.routebook('test stock.json')).to.include({ failed: 0 });
        expect(await ada.routebook('push stock.json --wait 60')).to.include({ version: 1, verified: true });

        const grace = terminalOf('grace');
        await grace.routebook(`login < ${writeKey('grace', await openAccount('grace@people.example'))}`);
        await untilFound(grace, "find 'how many pieces of an article are left' --verified", { site: SITE, endpoint: 'articles_left' });
        const fetched = await grace.routebook(`fetch ${SITE} articles_left --param id=2`);
        expect(fetched.data).to.deep.equal({ title: 'Road running shoes', left: 3 });
        expect(fetched.meta).to.include({ credits_used: 1 });
    });

    /** A worker adds published endpoints to the index, and those of the registry that a start on a busy machine has left. */
    async function untilFound({ routebook }: ReturnType<typeof terminalOf>, line: string, wanted: { site: string; endpoint: string }) {
        const first = async () => (await routebook(line)).endpoints[0];
        await eventually(first, (found) => found?.site === wanted.site && found.endpoint === wanted.endpoint, 60_000);
    }

    function writeKey(name: string, key: string): string {
        const path = join(clone.folder, '.data', `${name}-key`);
        writeFileSync(path, key, { mode: 0o600 });
        return path;
    }
});
