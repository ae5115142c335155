import { expect } from 'chai';
import type { JsonObject } from '../../shared/domain/types.ts';
import { pageOfActs } from '../../shared/store/accounts/workspace-audit.ts';
import { removeAsMaintainer } from '../../shared/store/registry/maintainer-orders.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { orderOf, packageOf } from '../store/registry.ts';
import { makeOwner } from '../support/routes.ts';
import { useOperator } from './operator.ts';

describe('the operator’s commands for sites', () => {
    const { opened, admin, done, errorOf, newAccount } = useOperator();

    it('sets, shows, blocks and unblocks the registrable domain of any site on it', async () => {
        expect(await done('site', 'set', 'www.Shop.Market.example', '--credits', 5, '--concurrency', 2, '--rate', 0.5)).to.deep.equal({
            domain: 'market.example',
            credits: 5,
            concurrency: 2,
            rate: 0.5,
            blocked: false,
            block_reason: null,
        });
        expect(await done('site', 'set', 'market.example', '--rate', 'default')).to.include({ credits: 5, rate: null });
        const allowed = { auth_hosts: 'login.example.org,auth.example.net' };
        expect(await done('site', 'set', 'market.example', '--auth-host', allowed.auth_hosts)).to.include(allowed);
        expect(await done('site', 'show', 'market.example')).to.include(allowed);
        expect(await done('site', 'set', 'market.example', '--auth-host', 'none')).not.to.have.property('auth_hosts');
        expect(await done('site', 'block', 'shop.market.example', '--reason', 'The owner wrote to us')).to.include({
            domain: 'market.example',
            blocked: true,
        });
        expect(await done('site', 'show', 'market.example')).to.deep.include({
            blocked: true,
            block_reason: 'The owner wrote to us',
            sites: [],
            maintainers: [],
        });
        expect(await done('site', 'unblock', 'market.example', '--reason', 'Taken back')).to.include({
            blocked: false,
            block_reason: null,
        });
        const wrong = await admin('site', 'show', 'https://market.example/');
        expect([wrong.code, errorOf(wrong)['code']]).to.deep.equal([1, 'INVALID_DOMAIN']);
    });

    it('transfers a domain, and adds and removes its maintainers', async () => {
        const [first, second] = [await newAccount(), await newAccount()];
        expect(await done('site', 'transfer', 'a.handed.example', first.workspaceId)).to.include({ domain: 'handed.example' });
        const both = await done('maintainer', 'add', 'handed.example', second.workspaceId);
        expect(both['maintainers']).to.have.length(2);
        await done('maintainer', 'remove', 'handed.example', first.workspaceId);
        const last = await admin('maintainer', 'remove', 'handed.example', second.workspaceId);
        expect([last.code, errorOf(last)['code']]).to.deep.equal([1, 'LAST_MAINTAINER']);
        const absent = await admin('maintainer', 'remove', 'handed.example', first.workspaceId);
        expect([absent.code, errorOf(absent)['code']]).to.deep.equal([1, 'NOT_FOUND']);
        expect((await admin('site', 'transfer', 'handed.example', 'wsp_unknown')).code).to.equal(1);
    });

    it('names a maintainer whose removal is pending, and the audits that contain an operator’s change', async () => {
        const [first, second] = [await newAccount(), await newAccount()];
        for (const { workspaceId } of [first, second]) await done('maintainer', 'add', 'leaving.example', workspaceId);
        const order = { registrable: 'leaving.example', by: first.workspaceId, workspaceId: second.workspaceId };
        await removeAsMaintainer(opened.db, { ...order, actor: { actor: 'system' } });
        const { maintainers } = await done('site', 'show', 'leaving.example');
        const [stays, leaves] = maintainers as JsonObject[];
        expect(stays).not.to.have.property('removal_at');
        expect(Date.parse(String(leaves?.['removal_at']))).to.be.greaterThan(Date.now());
        await done('site', 'transfer', 'leaving.example', first.workspaceId);
        const actsIn = async (workspaceId: string) => {
            const { rows: acts } = await pageOfActs(opened.db, { workspaceId }, { limit: 10, after: undefined });
            return acts.filter(({ actor }) => actor === 'operator').map(({ action }) => action);
        };
        expect(await actsIn(first.workspaceId)).to.include.members(['maintainer.transferred', 'maintainer.added']);
        expect(await actsIn(second.workspaceId)).to.include.members(['maintainer.removed', 'maintainer.added']);
    });

    it('lists domains with a maintainer beside Routebook; a transfer in either direction ends that', async () => {
        const { workspaceId } = await newAccount();
        for (const site of ['kept.example', 'shared.example']) await publishPackage(opened.db, orderOf(packageOf(site), undefined));
        await done('maintainer', 'add', 'shared.example', workspaceId);
        const shared = async () => {
            const listed = (await done('registry', 'status')) as unknown as { site: string; others: { workspace_id: string }[] }[];
            return listed.map(({ site, others }) => [site, ...others.map((other) => other.workspace_id)]);
        };
        expect(await shared()).to.deep.equal([['kept.example'], ['shared.example', workspaceId]]);
        await done('site', 'transfer', 'shared.example', 'wsp_routebook');
        expect(await shared()).to.deep.equal([['kept.example'], ['shared.example']]);
    });

    it('yanks a version, and names the new latest version', async () => {
        const { workspaceId, userId } = await newAccount();
        const publisher = { workspaceId, userId, accountId: userId, isLimited: true };
        for (const text of ['one', 'two']) await publishPackage(opened.db, orderOf(packageOf('pulled.example', text), publisher));
        expect(await done('schema', 'yank', 'pulled.example', 2, '--reason', 'legal')).to.deep.equal({
            site: 'pulled.example',
            version: 2,
            yanked: true,
            reason: 'legal',
            latest: 1,
        });
        expect(await done('schema', 'yank', 'pulled.example', 1, '--reason', 'broken')).to.include({ latest: null });
        expect(await done('schema', 'unyank', 'pulled.example', 2)).to.deep.equal({
            site: 'pulled.example',
            version: 2,
            yanked: false,
            reason: null,
            latest: 2,
        });
        const [last] = (await done('audit', 'list', '--limit', 1)) as unknown as JsonObject[];
        expect(last).to.deep.include({ command: 'schema unyank', target: 'pulled.example 2', before: { yank_reason: 'legal' } });
        const unknown = await admin('schema', 'yank', 'pulled.example', 3, '--reason', 'broken');
        expect([unknown.code, errorOf(unknown)['code']]).to.deep.equal([1, 'VERSION_NOT_FOUND']);
    });

    it('reports a yank to the workspace that published the version and to the proved owner, in their audits and by mail', async () => {
        const [publisher, owner] = [await newAccount(), await newAccount()];
        const { workspaceId, userId } = publisher;
        const order = orderOf(packageOf('told.example'), { workspaceId, userId, accountId: userId, isLimited: true });
        await publishPackage(opened.db, order);
        await makeOwner(opened.db, 'told.example', owner.workspaceId);
        await opened.db.raw('update maintainers set proven_at = app_now() where workspace_id = ?', [owner.workspaceId]);
        await done('schema', 'yank', 'told.example', 1, '--reason', 'security');
        await done('schema', 'yank', 'told.example', 1, '--reason', 'security');
        await done('schema', 'unyank', 'told.example', 1);
        for (const notified of [publisher, owner]) {
            const { rows: acts } = await pageOfActs(opened.db, { workspaceId: notified.workspaceId }, { limit: 2, after: undefined });
            expect(acts.map(({ actor, action, target, details }) => ({ actor, action, target, details }))).to.deep.equal([
                { actor: 'operator', action: 'version.unyanked', target: 'told.example@1', details: {} },
                { actor: 'operator', action: 'version.yanked', target: 'told.example@1', details: { reason: 'security' } },
            ]);
            const { rows } = await opened.db.raw<{ rows: { line: string }[] }>(
                'select line from workspace_news where workspace_id = ? order by id',
                [notified.workspaceId],
            );
            expect(rows.map(({ line }) => line)).to.deep.equal([
                'Version 1 of told.example was taken out of use (security).',
                'Version 1 of told.example was put back into use.',
            ]);
        }
    });
});
