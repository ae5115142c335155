import { expect } from 'chai';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { ask, metaIn, namesIn, untilIndexed } from '../support/find.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

const TASK = 'list trousers by colour';

describe('the order of endpoints that match a task equally', () => {
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let maker: Person;

    before(async () => {
        maker = await join(world, { plan: 'enterprise' });
        const read = (name: string, path: string) => ({
            name,
            description: 'Trousers by their colour.',
            method: 'GET' as const,
            url: `http://${SHOP}:${shop.port}/${path}`,
            examples: [{ params: {} }],
        });
        const endpoints = [read('first', 'products/1'), read('second', 'products/2'), read('third', 'products/3')];
        dataOf(await maker.publish({ ...shopPackage(shop.port), endpoints }));
        await untilIndexed(world);
    });

    const orderFor = async (task: string, person?: Person) => namesIn(await ask(world, { task }, person));
    const choose = async (endpoint: string, person: Person, task = TASK) => {
        const session = metaIn(await ask(world, { task }, person)).session_id ?? '';
        const body = { site: SHOP, endpoint };
        dataOf(await person.call('POST', '/v1/fetch', { body, headers: { 'x-service-session': session } }));
    };
    const nextHour = async () => {
        await world.app.usage.flush();
        await world.app.lookUpSessions.flush();
        await world.clock.advance({ hours: 1 });
        expect(await rollUpTrending(world.app.db)).to.equal(true);
    };

    it('is not changed by the maintainer, nor by one account that calls again and again', async () => {
        const before = await orderFor(TASK);
        for (let times = 0; times < 6; times++) await choose('third', maker);
        const caller = await join(world, { plan: 'pro' });
        for (let times = 0; times < 6; times++) await choose('third', caller);
        await nextHour();
        expect(await orderFor(TASK)).to.deep.equal(before);
        const { rows } = await world.app.db.raw('select distinct account_id from find_choices');
        expect(rows).to.have.length(1);
    });

    it('is learnt from successful fetches of five accounts', async () => {
        for (let count = 0; count < 4; count++) await choose('third', await join(world, { plan: 'pro' }));
        await nextHour();
        expect((await orderFor(TASK))[0]).to.equal(`${SHOP}/third`);
        expect((await orderFor('which colour do these trousers have'))[0], 'an alike task').to.equal(`${SHOP}/third`);
    });

    it('depends on the words of the task only, and is forgotten after 90 days', async () => {
        await choose('second', await join(world, { plan: 'pro' }), 'trousers of Ermintrude Smith, size 4711');
        await nextHour();
        const { rows } = await world.app.db.raw<{ rows: { word: string }[] }>('select distinct word from find_choices');
        expect(rows.map(({ word }) => word).join(' '))
            .to.match(/trouser/)
            .and.not.match(/ermintrude|smith|\d/i);
        await world.clock.advance({ hours: 24 * 91 });
        await rollUpTrending(world.app.db);
        expect((await world.app.db.raw('select 1 from find_choices')).rows).to.deep.equal([]);
        expect((await world.app.db.raw('select 1 from find_choice_counts')).rows).to.deep.equal([]);
    });
});
