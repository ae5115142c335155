import { expect } from 'chai';
import { NO_POLICY, type SitePolicy } from '../../shared/domain/site/site-policy.ts';
import type { Db } from '../../shared/platform/db.ts';
import { pageOfActs } from '../../shared/store/accounts/workspace-audit.ts';
import { addMaintainer } from '../../shared/store/registry/maintainers.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import { findDomain } from '../../shared/store/registry/sites.ts';
import { contributor, useDatabase } from '../store/registry.ts';
import { admin } from '../support/admin.ts';

describe('admin site policy', () => {
    const DOMAIN = 'shop.example';
    const database = useDatabase({ forEach: true });
    let db: Db;
    beforeEach(() => {
        ({ db } = database);
    });

    interface Shown {
        domain: string;
        operator: SitePolicy;
        owner: SitePolicy;
        error?: { code: string; message: string };
    }

    const policy = async (...options: string[]) => {
        const { code, json } = await admin(database.url, ['site', 'policy', `www.${DOMAIN}`, ...options, '--json']);
        return { code, json: json as unknown as Shown };
    };
    const set = async (...options: string[]) => {
        const { code, json } = await policy(...options);
        expect(code, JSON.stringify(json)).to.equal(0);
        return json;
    };
    const anOwner = async () => {
        const { workspaceId } = await contributor(db);
        await addMaintainer(db, DOMAIN, workspaceId);
        await db.raw('update maintainers set proven_at = app_now() where workspace_id = ?', [workspaceId]);
        return workspaceId;
    };
    const ownerSets = (owners: Partial<SitePolicy>) => db.transaction((trx) => setPolicy(trx, DOMAIN, { ...NO_POLICY, ...owners }));
    const holds = async () => (await findLatest(db, { site: DOMAIN, registrable: DOMAIN })).policy;

    it('shows an empty policy', async () => {
        for (const options of [[], ['--show']])
            expect(await set(...options)).to.deep.equal({ domain: DOMAIN, operator: NO_POLICY, owner: NO_POLICY });
        expect(await holds()).to.equal(null);
        const { out } = await admin(database.url, ['site', 'policy', DOMAIN]);
        expect(out.join('\n'))
            .to.match(/operator +writes +on/)
            .and.match(/owner +hours +always/);
    });

    it('sets every field of the operator’s policy, beside the owner’s, and changes only what is named', async () => {
        await ownerSets({ requests_per_minute: 10 });
        const path = ['--block-path', `WWW.${DOMAIN}/admin`];
        const first = await set('--writes', 'off', '--rpm', '60', '--hours', '22:00-06:00', '--timezone', 'Europe/Berlin', ...path);
        expect(first.operator).to.deep.equal({
            blocked: false,
            writes: false,
            blocked_paths: [{ host: `www.${DOMAIN}`, path_prefix: '/admin' }],
            requests_per_minute: 60,
            hours: { from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
        });
        expect(first.owner).to.deep.equal({ ...NO_POLICY, requests_per_minute: 10 });
        expect(await holds()).to.deep.include({ writes: false, requests_per_minute: 10 });
        const second = await set('--no-hours', '--rpm', 'none');
        expect(second.operator).to.deep.equal({ ...first.operator, hours: null, requests_per_minute: null });
        expect((await set('--unblock-path', `www.${DOMAIN}/admin`)).operator.blocked_paths).to.deep.equal([]);
    });

    it('clears its own policy or the owner’s, without touching the other', async () => {
        await ownerSets({ blocked: true, writes: false });
        await set('--rpm', '60');
        expect((await set('--clear')).operator).to.deep.equal(NO_POLICY);
        expect((await set()).owner).to.deep.include({ blocked: true, writes: false });
        await set('--rpm', '60');
        const cleared = await set('--clear-owner', '--reason', 'the proof is long gone');
        expect(cleared).to.deep.equal({ domain: DOMAIN, operator: { ...NO_POLICY, requests_per_minute: 60 }, owner: NO_POLICY });
        expect((await findLatest(db, { site: DOMAIN, registrable: DOMAIN })).isBlocked).to.equal(false);
        await set('--clear', '--clear-owner');
        expect(await holds()).to.equal(null);
    });

    it('blocks like site block, with a reason, and --clear keeps the block', async () => {
        expect((await set('--block', '--reason', 'asked by mail')).operator.blocked).to.equal(true);
        expect(await findDomain(db, DOMAIN)).to.include({ blockReason: 'asked by mail' });
        expect((await set('--clear')).operator.blocked).to.equal(true);
        expect((await set('--unblock')).operator.blocked).to.equal(false);
    });

    it('is in the operators’ audit and in that of the proved owner', async () => {
        const workspaceId = await anOwner();
        await ownerSets({ writes: false });
        await set('--rpm', '60', '--reason', 'the site groans');
        await set('--rpm', '60');
        await set('--clear-owner');
        const { rows: acts } = await pageOfActs(db, { workspaceId }, { limit: 2, after: undefined });
        expect(acts.map(({ actor, action, target, details }) => ({ actor, action, target, details }))).to.deep.equal([
            { actor: 'operator', action: 'policy.changed', target: DOMAIN, details: { writes: true } },
            { actor: 'operator', action: 'policy.changed', target: DOMAIN, details: { policy_of: 'operator', requests_per_minute: 60 } },
        ]);
        const { rows } = await db.raw('select command, target, reason from audit order by id limit 1');
        expect(rows).to.deep.equal([{ command: 'site policy', target: DOMAIN, reason: 'the site groans' }]);
    });

    it('refuses contradictions and invalid policies of the domain, and changes nothing', async () => {
        for (const options of [
            ['--show', '--writes', 'off'],
            ['--clear', '--rpm', '5'],
            ['--block'],
            ['--block', '--unblock', '--reason', 'x'],
            ['--rpm', '0'],
            ['--rpm', '1000001'],
            ['--hours', '09:00-09:00', '--timezone', 'UTC'],
            ['--block-path', 'shop.example'],
        ])
            expect((await policy(...options)).code, options.join(' ')).to.equal(2);
        for (const [options, word] of [
            [['--block-path', 'other.example/x'], 'not a host of shop.example'],
            [['--block-path', 'shop.example/ü'], '%XX'],
            [['--hours', '09:00-17:00'], '--timezone'],
            [['--hours', '09:00-17:00', '--timezone', 'Moon/Base'], 'IANA'],
            [['--unblock-path', 'shop.example/x'], 'not blocked'],
            [Array.from({ length: 101 }, (_, number) => ['--block-path', `shop.example/${number}`]).flat(), '100 paths'],
        ] as const) {
            const { code, json } = await policy(...options);
            expect([code, json.error?.code], word).to.deep.equal([1, 'VALIDATION_ERROR']);
            expect(json.error?.message).to.include(word);
        }
        expect((await set()).operator).to.deep.equal(NO_POLICY);
        expect((await db.raw('select from audit')).rows).to.deep.equal([]);
    });
});
