import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import type { Db } from '../../shared/platform/db.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { spreadEvents } from '../../shared/store/events/spread.ts';
import { useDatabase } from '../store/registry.ts';
import { countRowsRead } from '../support/rows-read.ts';

/** Accounts, each with a webhook. Each fetched one of the sites. */
const ACCOUNTS = 2000;
const SITES = 20;
/** Events of sites that wait. */
const WAITING = 20_000;

describe('many strangers with webhooks, and many events of their sites', () => {
    const database = useDatabase();
    let db: Db;

    before(async () => {
        ({ db } = database);
        await db.raw(
            `insert into users (id, email, email_normalised) select 'usr_' || n, n || '@crowd.test', n || '@crowd.test' from generate_series(1, :n) n`,
            { n: ACCOUNTS },
        );
        await db.raw("insert into workspaces (id, name) select 'wsp_' || n, 'crowd ' || n from generate_series(1, :n) n", { n: ACCOUNTS });
        await db.raw(
            "insert into memberships (workspace_id, user_id, role) select 'wsp_' || n, 'usr_' || n, 'owner' from generate_series(1, :n) n",
            { n: ACCOUNTS },
        );
        await db.raw(
            `insert into webhooks (id, workspace_id, made_by, url, host, events, sealed)
             select 'whk_' || n, 'wsp_' || n, 'usr_' || n, 'https://crowd.test/', 'crowd.test', '{schema.*}', '' from generate_series(1, :n) n`,
            { n: ACCOUNTS },
        );
        await db.raw(
            `insert into site_callers (site, workspace_id, day)
             select 'site' || n % :sites || '.test', 'wsp_' || n, app_now()::date from generate_series(1, :n) n`,
            { sites: SITES, n: ACCOUNTS },
        );
        await db.raw(
            `insert into events (id, type, site, data)
             select 'evt_' || n, 'schema.published', 'site' || n % :sites || '.test', '{}' from generate_series(1, :n) n`,
            { sites: SITES, n: WAITING },
        );
        await db.raw('analyze');
    });

    it('an event of a site reads the callers of that site once, not once per webhook', async () => {
        const { done, read } = await countRowsRead(db, spreadEvents, 'site_callers');
        expect(done?.deliveries).to.equal((done?.events ?? 0) * (ACCOUNTS / SITES));
        expect(read).to.be.at.most(2 * ACCOUNTS);
    });

    it('an account’s own event is spread at once, and nothing reads past the events that wait', async () => {
        await recordEvent(db, { type: 'key.revoked', workspaceId: 'wsp_1', data: { key_id: newId('key') } });
        expect((await countRowsRead(db, spreadEvents, 'events')).read).to.be.at.most(100);
        const { position } = await db('events').where({ type: 'key.revoked' }).first('position');
        expect(position).to.be.a('number');
    });

    it('each event and each delivery has an id that sorts after all earlier ones', async () => {
        const events: string[] = [];
        const deliveries: string[] = [];
        for (let event = 0; event < 6; event++) {
            await recordEvent(db, { type: 'schema.published', workspaceId: 'wsp_2', data: {} });
            await spreadEvents(db);
            const { id } = await db('events').where({ workspace_id: 'wsp_2' }).orderBy('position', 'desc').first('id');
            events.push(id);
            deliveries.push(...(await db('webhook_deliveries').where({ event_id: id }).pluck('id')));
        }
        expect(events).to.deep.equal(events.toSorted());
        expect(deliveries).to.have.length(events.length);
        expect(deliveries).to.deep.equal(deliveries.toSorted());
    });
});
