import { expect } from 'chai';
import { balanceOf } from '../../support/credits.ts';
import { join, type Person } from '../../support/people.ts';
import { codeOf } from '../../support/routes.ts';
import { anEndpoint, aPackage } from '../../support/schemas.ts';
import { openSite, type Site } from '../../support/sites.ts';
import { watchTree } from '../../support/tree-memory.ts';
import { openWorld, type World } from '../../support/world.ts';
import type { Bomb } from '../packages.ts';
import { bodyAt, packageOf } from '../reading.ts';
import { GROWN_BYTES, SCALES } from './bomb-site.ts';
import type { Rows } from './rows.ts';

const MIB = 1024 * 1024;
/** The memory that a child process may add, and what it uses when it starts. */
const CHILD_BYTES = (128 + 110) * MIB;

export function describeFetches({ fetched, scales }: Rows): void {
    describe('a package that', () => {
        let world: World;
        let site: Site;
        let mallory: Person;
        let ada: Person;
        let served: Bomb = { response: {}, contentType: 'application/json', body: '[]' };

        before(async () => {
            site = await openSite((request, response) => {
                const isBomb = request.url?.startsWith('/bomb') === true;
                response.writeHead(200, { 'content-type': isBomb ? served.contentType : 'application/json' });
                response.end(isBomb ? bodyAt(served, request.url ?? '') : '{"ok":true}');
            });
            const hosts = new Map(['bombs.test', 'good.test'].map((name) => [name, ['127.0.0.1']]));
            world = await openWorld({ config: { egressHosts: hosts } });
            mallory = await join(world, { plan: 'pro' });
            ada = await join(world, { plan: 'pro' });
            const good = anEndpoint('good.test', { name: 'read', params: [], url: `http://good.test:${site.port}/good` });
            const published = await ada.publish(aPackage('good.test', { endpoints: [good] }));
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
            expect((await ada.fetch('good.test', 'read')).status).to.equal(200);
        });
        after(async () => {
            await world.close();
            await site.close();
        });

        for (const { name, at, code } of fetched) {
            it(`${name} is free for its caller and does not affect others`, async () => {
                for (const scale of scales) {
                    served = at(SCALES[scale]);
                    const published = await mallory.publish(packageOf(served, 'bombs.test', site.port));
                    if (published.status >= 300) {
                        expect(scale, JSON.stringify(published.body)).to.equal('double');
                        continue;
                    }
                    const before = await balanceOf(mallory);
                    const watched = watchTree(process.pid);
                    const [answer, good] = await Promise.all([mallory.fetch('bombs.test', 'bomb'), ada.fetch('good.test', 'read')]);
                    const { grown, mostOfChild } = watched();
                    expect(mostOfChild, `bytes of one reading process at scale ${scale}`).to.be.below(CHILD_BYTES).and.above(0);
                    expect(grown, `bytes that the worker and its processes grew by at scale ${scale}`).to.be.below(GROWN_BYTES);
                    expect(good.status, 'the good site').to.equal(200);
                    if (scale === 'whole') expect(codeOf(answer)).to.equal(code);
                    if (answer.status === 200) continue;
                    expect(codeOf(answer), `at scale ${scale}`).to.be.oneOf([code, 'UPSTREAM_TOO_LARGE']);
                    expect(await balanceOf(mallory)).to.equal(before);
                }
            });
        }
    });
}
