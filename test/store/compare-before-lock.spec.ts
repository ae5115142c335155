import { expect } from 'chai';
import type { PackageDocument } from '../../shared/domain/types.ts';
import type { Publisher } from '../../shared/store/registry/publication.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { accepted, contributor, openDatabase, orderOf, packageOf } from './registry.ts';

const SITE = 'compared.example';

describe('a package that takes long to compare', () => {
    let database: Awaited<ReturnType<typeof openDatabase>>;
    let publisher: Publisher;

    beforeEach(async () => {
        database = await openDatabase();
        publisher = await contributor(database.db);
        await publish(withEndpoints('one'));
    });
    afterEach(() => database.close());

    const withEndpoints = (...names: string[]) =>
        packageOf(SITE, names.join(), { endpoints: names.map((name) => ({ name, method: 'GET', url: `https://${SITE}/${name}` })) });
    const publish = async (document: PackageDocument) => accepted(await publishPackage(database.db, orderOf(document, publisher)));

    /** Publishes it. `meanwhile` runs at each comparison, with whether its domain is locked. */
    async function publishSlowly(document: PackageDocument, meanwhile: (isLocked: boolean, turn: number) => Promise<unknown>) {
        const { content, ...order } = orderOf(document, publisher);
        let turn = 0;
        const compare: typeof content.compare = async (before, isLocked) => {
            await meanwhile(isLocked, turn++);
            return content.compare(before, isLocked);
        };
        return accepted(await publishPackage(database.db, { ...order, content: { ...content, compare } }));
    }

    const isFree = async () => {
        const { rows } = await database.db.raw('select registrable from domains where registrable = ? for update skip locked', [SITE]);
        return rows.length === 1;
    };

    it('is compared before others have to wait for it', async () => {
        const seen: boolean[] = [];
        const { version } = await publishSlowly(withEndpoints('one', 'two'), async () => seen.push(await isFree()));
        expect([version, seen]).to.deep.equal([2, [true]]);
    });

    it('is compared again if another version came meanwhile, and says what it changes in that one', async () => {
        const turns: number[] = [];
        const { version, changes } = await publishSlowly(withEndpoints('one', 'two', 'three'), async (_isLocked, turn) => {
            turns.push(turn);
            if (turn === 0) await publish(withEndpoints('one', 'two'));
        });
        expect(turns).to.deep.equal([0, 1]);
        expect(version).to.equal(3);
        expect(changes.added).to.deep.equal(['three']);
    });

    it('is published in the end, however often another version comes first', async () => {
        const locked: boolean[] = [];
        const { version, changes } = await publishSlowly(withEndpoints('one', 'last'), async (isLocked, turn) => {
            locked.push(isLocked);
            if (!isLocked) await publish(withEndpoints('one', `other_${turn}`));
        });
        expect(locked).to.deep.equal([false, false, false, false, true]);
        expect(version).to.equal(6);
        expect(changes.added).to.deep.equal(['last']);
        expect(changes.removed).to.deep.equal(['other_3']);
    });
});
