import { expect } from 'chai';
import * as verification from '../../shared/store/registry/verification.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import type { Running } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { openSiteWithPages, page, SITE, SITE_HOSTS, type SiteWithPages, sitePackage } from '../support/site-with-pages.ts';
import { ANY_TOPOLOGY, type World } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a worker that is killed in the middle of a verification run (${topology})`, () => {
        let world: World;
        let site: SiteWithPages;
        let ada: Person;
        let processes: WorldOfProcesses;
        let survivor: Running;

        before(async () => {
            site = await openSiteWithPages();
            processes = await openWorldOfProcesses(topology, SITE_HOSTS);
            ({ world } = processes);
            ada = await join(world, { plan: 'pro' });
        });

        after(async () => {
            await processes.close();
            await site.close();
        });

        it('leaves the run to another one, ten minutes later', async () => {
            await ada.publish(sitePackage(SITE, [page(site, SITE, 'held')]));
            const doomed = await processes.startWorker();
            await site.waiting(1);
            await doomed.end('SIGKILL');
            survivor = await processes.startWorker();
            await survivor.said('died or was cut off');
            expect(site.calls, 'not before the ten minutes are over').to.have.length(1);
            await world.clock.advance({ minutes: 10 });
            await site.waiting(1);
            site.letGo();
            const isVerified = async () => dataOf<{ verified: boolean }>(await ada.call('GET', `/v1/schemas/${SITE}`)).verified;
            await eventually(isVerified, (verified) => verified, 20_000);
            expect(await verification.readState(world.app.db, SITE)).to.include({ run: 2, outcome: 'passed' });
            expect(site.calls).to.have.length(2);
        });

        it('leaves it to another one also if it is stopped', async () => {
            await world.clock.advance({ days: 1 });
            await site.waiting(1);
            expect(await survivor.end('SIGTERM')).to.equal(0);
            site.letGo();
            expect(await verification.readState(world.app.db, SITE)).to.include({ run: 3, outcome: null });
            expect(dataOf(await ada.call('GET', `/v1/schemas/${SITE}`))).to.include({ verified: true });
        });
    });
}
