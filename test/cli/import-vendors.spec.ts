import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { type Imported, importDocument, readDocument } from '../../cli/import/import.ts';
import { VENDOR_DOCUMENTS, type VendorCall, type VendorDocument } from '../fixtures/vendor-documents.ts';
import { join, type Person } from '../support/people.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

describe('packages imported from documents of many kinds of vendors, called', () => {
    let world: World;
    let site: Site;
    let caller: Person;
    let folder: string;
    let answer: VendorCall['answer'];

    before(async () => {
        site = await openSite((_request, response) => {
            const { status = 200, headers = { 'content-type': 'application/json' }, body = '' } = answer;
            response.writeHead(status, headers).end(body);
        });
        const hosts = VENDOR_DOCUMENTS.map(({ site: name }): [string, string[]] => [`api.${name}`, ['127.0.0.1']]);
        world = await openWorld({ config: { egressHosts: new Map(hosts) } });
        caller = await join(world, { plan: 'enterprise', credits: 1000 });
        folder = await mkdtemp(joinPath(tmpdir(), 'documents-'));
    });

    after(async () => {
        await rm(folder, { recursive: true, force: true });
        await world.close();
        await site.close();
    });

    /** Imports a document as the command line does: from its file, with the port that the operator allows. */
    async function importFrom({ site: name, document }: VendorDocument): Promise<Imported> {
        const file = joinPath(folder, `${name}.json`);
        await writeFile(file, JSON.stringify(document(`http://api.${name}:${site.port}`)));
        return importDocument(await readDocument(file), { isPortAllowed: () => true });
    }

    for (const vendor of VENDOR_DOCUMENTS) {
        it(`send what the document describes, and accept what it allows: ${vendor.title}`, async () => {
            const imported = await importFrom(vendor);
            expect(imported.package.site).to.equal(vendor.site);
            expect(imported.notCarried.filter(({ scope }) => scope === 'operation')).to.deep.equal([]);
            const left = Object.fromEntries(imported.notCarried.map(({ where, why }) => [where, why]));
            expect(left).to.include(vendor.left ?? {});
            const published = await caller.publish(imported.package);
            expect(published.status, JSON.stringify(published.body, null, 1)).to.equal(201);
            expect(vendor.calls.map(({ endpoint }) => endpoint)).to.have.members(imported.package.endpoints.map(({ name }) => name));
            for (const call of vendor.calls) await checkCall(vendor, call);
        });
    }

    async function checkCall({ site: name }: VendorDocument, { endpoint, params = {}, request, answer: sent, data }: VendorCall) {
        answer = sent;
        const before = site.seen.length;
        const fetched = await caller.fetch(name, endpoint, params);
        expect(fetched.status, `${endpoint}: ${fetched.text}`).to.equal(200);
        const [seen] = site.seen.slice(before);
        expect(`${seen?.method} ${seen?.path}`).to.equal(request.line);
        expect(seen?.headers).to.include(request.headers ?? {});
        if (request.body !== undefined) expect(seen?.body).to.equal(request.body);
        expect(fetched.body['data']).to.deep.equal(data);
    }
});
