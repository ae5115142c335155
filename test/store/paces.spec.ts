import { expect } from 'chai';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import { unyank, yank } from '../../shared/store/registry/yank.ts';
import { accepted, contributor, orderOf, packageOf, registrableOf, useDatabase } from './registry.ts';

describe('the request rate of a package', () => {
    const database = useDatabase();
    let db: Db;
    let publisher: Publisher;
    let texts = 0;
    before(async () => {
        ({ db } = database);
        publisher = await contributor(db, false);
    });

    const publish = async (site: string, pace: number | undefined, ...hosts: string[]) => {
        const endpoints = hosts.map((host, at): PackageEndpoint => ({ name: `e${at}`, method: 'GET', url: `https://${host}/` }));
        const more = { endpoints, ...(pace === undefined ? {} : { pace: { requests_per_minute: pace } }) };
        return accepted(await publishPackage(db, orderOf(packageOf(site, `${texts++}`, more), publisher)));
    };
    const stateOf = (site: string, version?: number) => findLatest(db, { site, registrable: registrableOf(site), version });

    it('applies to each of its hosts, for every site of the domain', async () => {
        await publish('one.example', 20, 'api.one.example', 'www.one.example');
        await publish('shop.one.example', undefined, 'api.one.example');
        const paces = { 'api.one.example': 20, 'www.one.example': 20 };
        expect((await stateOf('one.example')).paces).to.deep.equal(paces);
        expect((await stateOf('shop.one.example')).paces).to.deep.equal(paces);
        expect((await stateOf('other.example')).paces).to.deep.equal({});
    });

    it('comes from the latest versions, whichever version is called, and changes with them at once', async () => {
        await publish('three.example', 30, 'three.example');
        const before = await stateOf('three.example');
        await publish('shop.three.example', 6, 'three.example');
        const after = await stateOf('three.example');
        expect(after.paces).to.deep.equal({ 'three.example': 6 });
        expect(after.revision).not.to.equal(before.revision);
        await publish('three.example', undefined, 'three.example');
        expect((await stateOf('three.example', 1)).paces).to.deep.equal({ 'three.example': 6 });
        await publish('shop.three.example', undefined, 'three.example');
        expect((await stateOf('three.example', 1)).paces).to.deep.equal({});
        await yank(db, 'shop.three.example', 2, 'broken');
        expect((await stateOf('three.example')).paces).to.deep.equal({ 'three.example': 6 });
        await yank(db, 'shop.three.example', 1, 'broken');
        expect((await stateOf('three.example')).paces).to.deep.equal({});
        await unyank(db, 'shop.three.example', 1);
        expect((await stateOf('three.example')).paces).to.deep.equal({ 'three.example': 6 });
    });
});
