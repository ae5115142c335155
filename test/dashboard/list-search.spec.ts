import { expect } from 'chai';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { addMember } from '../../shared/store/accounts/workspaces.ts';
import { join as joinWorld, withKey } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { type Settled, settle } from './support/settled.ts';
import { wordsOf } from './support/visitor.ts';

const LARGE = 'weather-archive.example';

describe('a long list has a search', () => {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let owner: Settled;
    const read = async (path: string) => wordsOf((await owner.get(path)).html);

    before(async () => {
        owner = await settle(world);
        const { workspaceId, userId, apiKey } = owner;
        const { db } = world.app;
        for (let number = 1; number <= 12; number++) {
            await createKey(db, { workspaceId, userId, name: number === 1 ? 'Nightly Import' : `service ${number}` });
            const { userId: member } = await joinWorld(world);
            await addMember(db, { workspaceId, userId: member, role: 'member' });
            if (number < 3)
                await db('users')
                    .where({ id: member })
                    .update({ email: `${number === 1 ? 'grace' : 'linus'}@harbours.example` });
        }
        const endpoints = Array.from({ length: 40 }, (_, number) =>
            anEndpoint(LARGE, { name: number === 39 ? 'hourly_rain_by_city' : `report_${number}` }),
        );
        dataOf(await withKey(world, apiKey).publish(aPackage(LARGE, { endpoints })));
    });

    it('of keys, by their name, their first characters and who created them', async () => {
        const found = await read('/dashboard/keys?q=nightly+imp');
        expect(found).to.include('Nightly Import').and.not.include('service 5');
        const start = /rb_live_\w+…/.exec(found)?.[0] ?? '';
        expect(await read(`/dashboard/keys?q=${encodeURIComponent(start)}`)).to.include('Nightly Import');
        expect(await read(`/dashboard/keys?q=${encodeURIComponent(owner.email)}`))
            .to.include('service 5')
            .and.include('Older keys');
        expect(await read('/dashboard/keys?q=%3Cnothing%3E')).to.include('No active key matches “<nothing>”');
    });

    it('of members, by email and role', async () => {
        const found = await read('/dashboard/workspace?q=grace@');
        expect(found).to.include('grace@harbours.example').and.not.include('linus@harbours.example');
        expect(await read('/dashboard/workspace?q=owner'))
            .to.include(owner.email)
            .and.not.include('grace@harbours.example');
        expect(await read('/dashboard/workspace?q=nobody')).to.include('No member matches “nobody”');
    });

    it('of endpoints of a large site, by words of the name', async () => {
        expect(await read(`/registry/${LARGE}`))
            .to.include('40 endpoints')
            .and.not.include('hourly_rain_by_city');
        const found = await read(`/registry/${LARGE}?q=Rain+city`);
        expect(found).to.include('hourly_rain_by_city').and.include('1 of 40 match').and.not.include('report_1');
        const { html } = await owner.get(`/registry/${LARGE}?q=report`);
        expect(html).to.include('?q=report&amp;page=2#endpoints');
        expect(await read(`/registry/${LARGE}?q=snow`)).to.include('No endpoint has this name');
    });

    it('but a short one has none', async () => {
        const other = await settle(world);
        for (const path of ['/dashboard/keys', '/dashboard/workspace', `/registry/${other.values.site}`]) {
            expect((await other.get(path)).html, path).to.not.include('id="list-search"');
        }
    });
});
