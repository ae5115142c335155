import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'tryton',
    host: 'trade.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr');
        writeFileSync(
            join(folder, 'trytond.conf'),
            `[database]\nuri = sqlite://\npath = ${folder}\n[web]\nlisten = 127.0.0.1:${port}\nroot = ${folder}/www\n`,
        );
        writeFileSync(join(folder, 'password'), KEEPER.password);
        return `mkdir www && echo '<html><body>Trade</body></html>' > www/index.html && touch harbour.sqlite
            export PYTHONPATH=${root}/lib/python3/dist-packages TRYTONPASSFILE=${folder}/password
            /usr/bin/python3 ${root}/bin/trytond-admin -c trytond.conf -d harbour --all --email keeper@trade.test &&
            /usr/bin/python3 ${root}/bin/trytond-admin -c trytond.conf -d harbour -u party product --activate-dependencies &&
            exec /usr/bin/python3 ${root}/bin/trytond -c trytond.conf -d harbour`;
    },
};

/** Signs in, and searches, reads, writes, makes and removes parties and products, by the calls that its client sends. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    let id = 0;
    let session = '';
    const send = async (path: string, method: string, params: unknown[]) =>
        JSON.parse(
            await page.evaluate(
                async ([where, body, token]) => {
                    const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: `Session ${token}` }) };
                    return await (await fetch(where as string, { method: 'POST', headers, body: body as string })).text();
                },
                [path, JSON.stringify({ id: id++, method, params }), session] as const,
            ),
        ) as { result: never };
    await send('/', 'common.server.version', []);
    await send('/', 'common.db.list', []);
    const { result } = await send('/harbour/', 'common.db.login', ['admin', { password: KEEPER.password, device_cookie: null }, 'en']);
    const [user, key] = result as [number, string];
    session = Buffer.from(`admin:${user}:${key}`).toString('base64');
    const context_ = { company: null, language: 'en', client: 'sao' };
    const call = (method: string, ...params: unknown[]) => send('/harbour/', method, [...params, context_]);
    await call('model.res.user.get_preferences', true);
    await call('model.res.user.get_preferences', false);
    await call('model.ir.model.access.get_access', ['party.party', 'product.product']);
    for (const model of ['party.party', 'product.template', 'party.category']) {
        await call(`model.${model}.fields_view_get`, null, 'tree');
        await call(`model.${model}.fields_view_get`, null, 'form');
        await call(`model.${model}.default_get`, ['active', 'name'], true);
        await call(`model.${model}.search_count`, []);
    }
    const made: number[] = [];
    for (const name of ['Anna & sons', 'Boris ropes', 'Carla lamps']) {
        const answer = await call('model.party.party.create', [{ name, active: true }]);
        made.push((answer.result as number[])[0] ?? 0);
    }
    for (const name of ['Suppliers', 'Guests']) await call('model.party.category.create', [{ name }]);
    for (const [offset, words] of [
        [0, '%a%'],
        [1, '%o%'],
    ] as const) {
        await call('model.party.party.search', [['name', 'ilike', words]], offset, 10, [['name', 'ASC']]);
        await call(
            'model.party.party.search_read',
            [['name', 'ilike', words]],
            offset,
            10,
            [['name', 'ASC']],
            ['name', 'code', 'rec_name'],
        );
        await call('model.party.category.search_read', [], offset, 5, null, ['name']);
        await call('model.party.party.search_count', [['name', 'ilike', words]]);
    }
    for (const one of made.slice(0, 2)) {
        await call('model.party.party.read', [one], ['name', 'code', 'active', 'addresses']);
        await call('model.party.party.write', [one], { name: `Renewed ${one}` });
        await call('model.party.address.create', [{ party: one, city: 'Lighthaven', postal_code: '1234' }]);
        await call('model.party.party.copy', [one], {});
    }
    await call('model.party.address.search_read', [], 0, 10, null, ['city', 'party', 'full_address']);
    await call('model.party.party.delete', [made[2]]);
    const { result: units } = await call('model.product.uom.search_read', [], 0, 3, null, ['name', 'symbol']);
    const unit = (units as { id: number }[])[0]?.id;
    for (const name of ['Brass lamp', 'Hemp rope']) {
        await call('model.product.template.create', [
            { name, type: 'goods', default_uom: unit, list_price: { __class__: 'Decimal', decimal: '12.50' } },
        ]);
        await call('model.product.product.search_read', [['name', '=', name]], 0, 5, null, ['name', 'code', 'type']);
    }
    await call('model.ir.ui.menu.search_read', [['parent', '=', null]], 0, 20, [['sequence', 'ASC']], ['name', 'icon']);
    await call('model.ir.lang.search', [['translatable', '=', true]], 0, 10, null);
    await call('model.ir.action.keyword.get_keyword', 'form_print', ['party.party', -1]);
    await call('model.country.country.search_read', [], 0, 5, null, ['name', 'code']);
    await call('model.currency.currency.search_count', []);
    await send('/harbour/', 'common.db.logout', []);
    await page.close();
}
