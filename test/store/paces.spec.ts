import { expect } from 'chai';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { accepted, contributor, type OpenedDatabase, openDatabase, orderOf, packageOf, registrableOf } from './registry.ts';

describe('the request rate of a package', () => {
    let database: OpenedDatabase;
    let db: Db;
    let publisher: schemas.Publisher;
    let texts = 0;

    before(async () => {
        database = await openDatabase();
        ({ db } = database);
        publisher = await contributor(db, false);
    });

    after(() => database.close());

    const publish = async (site: string, pace: number | undefined, ...hosts: string[]) => {
        const endpoints = hosts.map((host, at): PackageEndpoint => ({ name: `e${at}`, method: 'GET', url: `https://${host}/` }));
        const more = { endpoints, ...(pace === undefined ? {} : { pace: { requests_per_minute: pace } }) };
        return accepted(await schemas.publish(db, orderOf(packageOf(site, `${texts++}`, more), publisher)));
    };
    const stateOf = (site: string, version?: number) => schemas.findLatest(db, { site, registrable: registrableOf(site), version });

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
        await schemas.yank(db, 'shop.three.example', 2, 'broken');
        expect((await stateOf('three.example')).paces).to.deep.equal({ 'three.example': 6 });
        await schemas.yank(db, 'shop.three.example', 1, 'broken');
        expect((await stateOf('three.example')).paces).to.deep.equal({});
        await schemas.unyank(db, 'shop.three.example', 1);
        expect((await stateOf('three.example')).paces).to.deep.equal({ 'three.example': 6 });
    });
});
