import { expect } from 'chai';
import { transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import * as maintainers from '../../shared/store/registry/maintainers.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { contributor, orderOf, packageOf, useDatabase } from './registry.ts';

describe('a registrable domain', () => {
    const opened = useDatabase();

    const mayPublish = async (publisher: Publisher, site: string) => {
        const text = `${Math.random()}`;
        return (await publishPackage(opened.db, orderOf(packageOf(site, text), publisher))).ok;
    };

    it('has the defaults before it is changed', async () => {
        expect(await sites.findDomain(opened.db, 'untouched.example')).to.deep.equal({
            registrable: 'untouched.example',
            credits: 1,
            concurrency: null,
            rate: null,
            takesCookies: true,
            authHosts: [],
            blockedAt: null,
            blockReason: null,
        });
    });

    it('keeps fields that are not set, and returns to the default on request', async () => {
        const set = (settings: sites.DomainSettings) => opened.db.transaction((trx) => sites.setDomain(trx, 'set.example', settings));
        await set({ credits: 5, rate: 0.25 });
        expect(await set({ concurrency: 8 })).to.include({ credits: 5, concurrency: 8, rate: 0.25 });
        expect(await set({ concurrency: null, rate: null })).to.include({ credits: 5, concurrency: null, rate: null });
    });

    it('is transferred to another workspace, and then only that one publishes', async () => {
        const [old, next] = [await contributor(opened.db), await contributor(opened.db)];
        expect(await mayPublish(old, 'moved.example')).to.equal(true);
        await opened.db.transaction((trx) => transferDomain(trx, 'moved.example', next.workspaceId));
        expect(await mayPublish(old, 'moved.example')).to.equal(false);
        expect(await mayPublish(next, 'moved.example')).to.equal(true);
        expect((await maintainers.listMaintainers(opened.db, 'moved.example')).map(({ workspaceId }) => workspaceId)).to.deep.equal([
            next.workspaceId,
        ]);
        expect(await sites.sitesOf(opened.db, 'moved.example')).to.deep.equal([
            { site: 'moved.example', latest: 2, versions: 2, verified: false, drift: false },
        ]);
    });
});
