import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { migrate } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { maintainAudit } from '../../shared/store/accounts/workspace-audit.ts';
import { listCalls } from '../../shared/store/usage/call-log.ts';
import { dropLogDays, makeLogDays } from '../../shared/store/usage/log-days.ts';
import { maintainUsage } from '../../shared/store/usage/traffic.ts';
import { openUsage } from '../../shared/store/usage/usage.ts';
import { advanceClock } from '../support/clock.ts';
import { startDebianPostgres } from '../support/debian-postgres.ts';
import { createEmptyDatabase } from '../support/postgres.ts';
import { needs } from '../support/system-programs.ts';

interface Server {
    url: string;
    end(): Promise<unknown>;
}

const SERVERS: Record<string, () => Promise<Server>> = {
    'the embedded PostgreSQL': async () => {
        const { url, drop } = await createEmptyDatabase();
        return { url, end: drop };
    },
    "Debian's PostgreSQL": async () => {
        const postgres = await startDebianPostgres();
        await postgres.tool('createdb', ['routebook']);
        return { url: postgres.url('routebook'), end: () => postgres.remove() };
    },
};

for (const [name, start] of Object.entries(SERVERS)) {
    describe(`the request log by day, on ${name}`, () => {
        let server: Server;
        let db: Db;
        let app: Db;
        const roles: string[] = [];
        const filter = {
            workspaceId: 'wsp_a',
            ...{ userId: undefined, site: undefined, endpoint: undefined, keyId: undefined, outcome: undefined },
            ...{ operation: undefined, requestId: undefined, from: undefined, until: undefined },
        };

        before(async function () {
            if (name.startsWith('Debian')) needs(this, 'postgresql');
            server = await start();
            await migrate(server.url);
            db = openDb({ url: server.url, acquireTimeoutMs: 10_000 });
            app = await openAs('select, insert, update, delete');
        });

        after(async () => {
            await app?.destroy();
            for (const role of roles) await db.raw('drop owned by ??; drop role ??', [role, role]);
            await db?.destroy();
            await server?.end();
        });

        /** A role without "create", with these rights on all tables. */
        async function openAs(rights: string): Promise<Db> {
            const role = newId('usr').toLowerCase();
            roles.push(role);
            await db.raw(`create role "${role}" login password 'x'; grant ${rights} on all tables in schema public to "${role}";
                          grant usage on all sequences in schema public to "${role}"`);
            const url = new URL(server.url);
            [url.username, url.password] = [role, 'x'];
            return openDb({ url: url.href, acquireTimeoutMs: 10_000 });
        }

        const write = async (count: number) => {
            const log = openUsage(app);
            for (let place = 0; place < count; place++) {
                log.record({
                    ...{ kind: 'fetch', operation: newId('op'), workspaceId: 'wsp_a', site: 'a.example', registrable: 'a.example' },
                    ...{ endpoint: 'front', outcome: 'success', credits: 1, durationMs: 5 },
                });
            }
            await log.close();
        };
        const partitions = async () => {
            const { rows } = await db.raw<{ rows: { part: string }[] }>('select part::text from usage_partitions() order by until');
            return rows.map(({ part }) => part);
        };

        it('gets and loses its days by a role that may not create tables', async () => {
            await advanceClock(db, 20 * 86_400_000);
            await write(3);
            expect((await partitions()).length).to.be.at.least(6);
            await makeLogDays(app);
            await maintainUsage(app);
            await maintainAudit(app);
            await advanceClock(db, 100 * 86_400_000);
            await maintainUsage(app);
            await maintainAudit(app);
            await write(5);
            expect(await db('usage').count({ count: '*' }).first()).to.deep.equal({ count: 5 });
        });

        it('cannot be dropped by a role that may only read it, nor can the audit', async () => {
            const reader = await openAs('select');
            try {
                for (const drop of [() => dropLogDays(reader, 0), () => maintainAudit(reader)]) {
                    const error = await drop().then(() => undefined, String);
                    expect(error).to.match(/needs the right to delete/);
                }
            } finally {
                await reader.destroy();
            }
        });

        it('keeps its old days while somebody reads it, and blocks nobody', async () => {
            await advanceClock(db, 95 * 86_400_000);
            const before = await partitions();
            const reading = await db.transaction();
            try {
                await reading('usage').count();
                expect(await dropLogDays(app)).to.equal(0);
                await makeLogDays(app);
                await write(1);
                expect(await partitions()).to.include.members(before);
            } finally {
                await reading.rollback();
            }
            expect(await dropLogDays(app)).to.be.at.least(3);
        });

        it('is read day by day without sorting, and only as far back as needed', async () => {
            for (let day = 0; day < 3; day++) {
                await advanceClock(db, 86_400_000);
                await write(20);
            }
            const first = await listCalls(db, filter, { limit: 30, before: undefined });
            expect(first.calls).to.have.length(30);
            const rest = await listCalls(db, filter, { limit: 100, before: first.next });
            expect(rest.calls).to.have.length(31);
            const all = [...first.calls, ...rest.calls];
            expect(all.map(({ at }) => at.getTime())).to.deep.equal(all.map(({ at }) => at.getTime()).toSorted((a, b) => b - a));
            expect(new Set(all.map(({ operation }) => operation)).size).to.equal(61);
        });
    });
}
