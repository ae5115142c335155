import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ownCall } from '../../api/dashboard/registry/own-call.ts';
import { anEndpoint, pathParam } from '../domain/an-endpoint.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';

const run = promisify(execFile);

describe('the line with which callers call a site themselves', () => {
    let site: Site;

    before(async function () {
        needs(this, 'curl');
        site = await openSite((request, response) => response.writeHead(200).end(request.url));
    });

    after(async () => {
        await site?.close();
    });

    it('sends the URL as the schema has it, also with brackets, which curl would read as a range', async () => {
        const url = `http://127.0.0.1:${site.port}/lists/{list}?filter[day]=[1-3]&sets=[a,b]`;
        const line = ownCall(anEndpoint({ method: 'GET', url, params: [{ ...pathParam('list'), example: "it's $HOME" }] }));
        const { stdout } = await run('/bin/sh', ['-c', line ?? '']);
        expect(stdout).to.equal('/lists/it%27s%20%24HOME?filter[day]=[1-3]&sets=[a,b]');
    });
});
