import { expect } from 'chai';
import { joinNames, readNames } from '../../shared/domain/site/name-list.ts';
import { shippedReserved } from '../../shared/platform/reserved-names.ts';
import { grantMaintainer, transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import { addMaintainer } from '../../shared/store/registry/maintainers.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

describe('names that need proof', () => {
    let world: World;
    let ada: Person;

    before(async () => {
        const own = readNames('own-bank.test\n!wise.com');
        if (!own.ok) throw new Error(own.problem);
        world = await openWorld({ workers: 0, config: { reservedDomains: joinNames(shippedReserved(), own.list) } });
        ada = await join(world);
    });
    after(() => world.close());

    const seen = (answer: Answer) => [answer.status, codeOf(answer)];
    const messageOf = ({ body }: Answer) => (body['error'] as { message: string }).message;
    const on = (site: string, host: string) => aPackage(site, { endpoints: [anEndpoint(host)] });

    it('cannot be published on without proof: banks, payment, mail, identity and governments, dry runs included', async () => {
        for (const site of [
            'google.com',
            'stripe.com',
            'api.stripe.com',
            'paypal.com',
            'chase.com',
            'gmail.com',
            'okta.com',
            'irs.gov',
            'own-bank.test',
        ]) {
            for (const query of ['', '?dry_run=true']) {
                const refused = await ada.publish(aPackage(site), query);
                expect(seen(refused), `${site}${query}`).to.deep.equal([403, 'CLAIM_REQUIRED']);
                expect(messageOf(refused))
                    .to.match(/POST \/v1\/sites\/[a-z.-]+\/claims/)
                    .and.to.include('operator');
            }
        }
        expect((await ada.publish(aPackage('wise.com'))).status, 'taken out by the operator').to.equal(201);
    });

    it('include hosts of user content in a package, but not suffixes where each name has an owner', async () => {
        for (const [site, host] of [
            ['zendesk.com', 'shop.zendesk.com'],
            ['raw.githubusercontent.com', 'raw.githubusercontent.com'],
            ['airtable.com', 'api.airtable.com'],
            ['a.notion.site', 'a.notion.site'],
        ] as const) {
            const refused = await ada.publish(on(site, host));
            expect([...seen(refused), messageOf(refused).startsWith(`${host} needs proof`)], host).to.deep.equal([
                403,
                'CLAIM_REQUIRED',
                true,
            ]);
        }
        expect((await ada.publish(aPackage('shop.github.io'))).status).to.equal(201);
    });

    it('include hosts with a trailing dot', async () => {
        const refused = await ada.publish(on('airtable.com', 'api.airtable.com.'));
        expect(seen(refused)).to.deep.equal([422, 'SCHEMA_INVALID']);
        expect(JSON.stringify(refused.body)).to.include('dot');
    });

    it('may be used by the workspace that proved the domain, and by one that an operator permits', async () => {
        const proved = 'update maintainers set proven_at = ? where registrable = ?';
        const permissions: [string, () => Promise<void>][] = [
            ['visa.com', () => grantMaintainer(world.app.db, 'visa.com', ada.workspaceId)],
            ['plaid.com', () => transferDomain(world.app.db, 'plaid.com', ada.workspaceId)],
            [
                'adyen.com',
                async () => {
                    await addMaintainer(world.app.db, 'adyen.com', ada.workspaceId);
                    await world.app.db.raw(proved, [new Date(), 'adyen.com']);
                },
            ],
        ];
        for (const [site, open] of permissions) {
            await open();
            expect((await ada.publish(aPackage(site))).status, site).to.equal(201);
        }
        // Without the proof, the published version still works, but the next one needs a proof.
        await world.app.db.raw(proved, [null, 'adyen.com']);
        expect(seen(await ada.publish(aPackage('adyen.com', { title: 'Next' })))).to.deep.equal([403, 'CLAIM_REQUIRED']);
        expect((await ada.call('GET', '/v1/schemas/adyen.com')).status).to.equal(200);
    });

    it('are checked after a block and after the maintainer', async () => {
        await blockDomain(world.app.db, 'klarna.com', 'test');
        expect(seen(await ada.publish(aPackage('klarna.com')))).to.deep.equal([403, 'SITE_BLOCKED']);
        const bob = await join(world);
        await grantMaintainer(world.app.db, 'mollie.com', bob.workspaceId);
        expect(seen(await ada.publish(aPackage('mollie.com')))).to.deep.equal([403, 'NOT_MAINTAINER']);
    });
});
