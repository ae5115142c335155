import { expect } from 'chai';
import { createKey } from '../../../shared/store/accounts/api-keys.ts';
import { userOf } from '../../dashboard/support/settled.ts';
import { freshAddress, hiddenOf, signUp, wordsOf } from '../../dashboard/support/visitor.ts';
import type { MeasuredApi } from '../../support/measured-api.ts';
import type { World } from '../../support/world.ts';
import type { Rows } from './rows.ts';
import { describeSurface, type Surface } from './surface.ts';

export const describePage = (rows: Rows) => describeSurface('the try-it page', openPage, rows);

async function openPage(world: World, api: MeasuredApi): Promise<Surface> {
    const { db } = world.app;
    const email = freshAddress();
    const person = await signUp(world, email, { base: api.base });
    const userId = await userOf(world, email);
    await db.raw('update credit_accounts set per_minute = 1000000, per_hour = 1000000, per_day = 1000000 where id = ?', [userId]);
    const { rows } = await db.raw<{ rows: { id: string }[] }>('select workspace_id as id from memberships where user_id = ?', [userId]);
    const { keyId: key } = await createKey(db, { workspaceId: rows[0]?.id ?? '', userId, name: 'laptop' });
    const at = (site: string, endpoint: string) => `/registry/${site}/try/${endpoint}`;

    return {
        async call(site, endpoint) {
            const priced = await person.send(at(site, endpoint), { step: 'price', key });
            const offered = (name: string) => hiddenOf(priced.html, name) ?? '';
            const run = { step: 'run', key, once: offered('once'), version: offered('version') };
            const { html } = await person.send(at(site, endpoint), run);
            const words = wordsOf(html);
            return { code: /\bUPSTREAM_[A-Z_]+/.exec(words)?.[0], length: html.length, isCut: words.includes('too long to show in full') };
        },
        async check(site, endpoint, params) {
            const { status, html } = await person.get(at(site, endpoint));
            if (status === 404) return;
            const names = [...html.matchAll(/<(?:input|textarea|select)[^>]*name="(param-\d+)"/g)].map(([, name = '']) => name);
            const values = Object.values(params);
            const fields = Object.fromEntries(names.map((name, place) => [name, JSON.stringify(values[place] ?? '')]));
            const priced = await person.send(at(site, endpoint), { step: 'price', key, ...fields });
            expect(priced.status).to.be.oneOf([200, 413, 422]);
            expect((await person.get(`/dashboard/schemas/new?site=${site}`)).status).to.equal(200);
        },
        close: async () => {},
    };
}
