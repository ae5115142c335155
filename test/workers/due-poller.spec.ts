import { expect } from 'chai';
import { type App, openApp } from '../../shared/app.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createLog } from '../../shared/platform/log.ts';
import { type DuePoller, openDuePoller } from '../../workers/repeat.ts';
import { type OpenWorker, openWorker } from '../../workers/worker.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { openWorld, type World } from '../support/world.ts';

const silent = createLog('silent', { write() {} });

describe('work that waits in the database', () => {
    describe('of several kinds', () => {
        let database: TestDatabase;
        let db: Db;
        let poller: DuePoller;
        let asked: string[];
        let messages: string[];

        beforeEach(async () => {
            database = await createTestDatabase();
            db = openDb({ url: database.url });
            asked = [];
            messages = [];
            db.client.on('query', ({ sql }: { sql: string }) => void asked.push(sql));
            const log = createLog('info', {
                write: (line: string) => void messages.push((JSON.parse(line) as { message: string }).message),
            });
            poller = openDuePoller({ db, log }, 10);
        });

        afterEach(async () => {
            await poller.stop();
            await db.destroy();
            await database.drop();
        });

        const until = (isRight: () => boolean) => eventually(async () => isRight(), Boolean);
        /** Waits for this number of further polls. */
        const morePolls = (count: number) => {
            const before = asked.length;
            return until(() => asked.length >= before + count);
        };

        it('is begun where it is due, and asked for in one statement', async () => {
            const begun: string[] = [];
            poller.add({ part: 'due', due: 'select true', work: async () => begun.push('due') });
            poller.add({ part: 'empty', due: 'select true where false', work: async () => begun.push('empty') });
            poller.add({ part: 'later', due: 'select false', work: async () => begun.push('later') });
            await until(() => begun.length >= 5);
            expect(new Set(begun)).to.deep.equal(new Set(['due']));
            expect(asked.filter((sql) => !/select true where false.*select false/.test(sql))).to.deep.equal([]);
        });

        it('is not begun twice at once, and does not hold up other kinds', async () => {
            const end = Promise.withResolvers<void>();
            const begun = { long: 0, short: 0 };
            const long = poller.add({
                part: 'long',
                due: 'select true',
                work: () => {
                    begun.long++;
                    return end.promise;
                },
            });
            poller.add({ part: 'short', due: 'select true', work: async () => void begun.short++ });
            await until(() => begun.long > 0);
            const { short } = begun;
            await until(() => begun.short >= short + 5);
            expect(begun.long).to.equal(1);

            const stopping = long.stop();
            expect(await Promise.race([stopping.then(() => 'stopped'), morePolls(2).then(() => 'waits')])).to.equal('waits');
            end.resolve();
            await stopping;
            await morePolls(3);
            expect(begun.long).to.equal(1);
        });

        it('whose condition fails is logged once and found again, while other kinds go on', async () => {
            let begun = 0;
            let others = 0;
            poller.add({ part: 'flags', due: 'select true from flags', work: async () => void begun++ });
            poller.add({ part: 'sound', due: 'select true', work: async () => void others++ });
            await until(() => others >= 5);
            expect(messages).to.deep.equal(['flags: does not work at the moment']);
            await db.raw('create table flags as select 1');
            await until(() => begun > 0);
            expect(messages).to.deep.equal(['flags: does not work at the moment', 'flags: works again']);
        });

        it('is logged once for all kinds in an outage', async () => {
            const lost = openDb({ url: 'postgres://localhost:1/nothing' });
            const down: string[] = [];
            const log = createLog('info', { write: (line: string) => void down.push((JSON.parse(line) as { message: string }).message) });
            const failing = openDuePoller({ db: lost, log }, 10);
            for (const part of ['one', 'two']) failing.add({ part, due: 'select true', work: async () => {} });
            await until(() => down.length > 0);
            await failing.stop();
            await lost.destroy();
            expect(down).to.deep.equal(['due work: does not work at the moment']);
        });

        it('is done again where it failed, while other kinds go on', async () => {
            let tries = 0;
            let others = 0;
            poller.add({
                part: 'fragile',
                due: 'select true',
                work: async () => {
                    if (tries++ < 3) throw new Error('not yet');
                },
            });
            poller.add({ part: 'sound', due: 'select true', work: async () => void others++ });
            await until(() => tries > 3 && others > 3);
            expect(messages).to.deep.equal(['fragile: does not work at the moment', 'fragile: works again']);
        });
    });

    describe('for an idle worker', () => {
        let world: World;
        let app: App;
        let worker: OpenWorker;

        before(async () => {
            world = await openWorld({ workers: 0 });
            app = openApp(world.app.config as App['config'] & { databaseUrl: string }, { role: 'worker', log: silent });
        });

        after(async () => {
            await worker.close();
            await app.close();
            await world.close();
        });

        it('makes one other statement for every three polls at most', async () => {
            const asked: string[] = [];
            worker = await openWorker(app, { isWarm: false });
            app.db.client.on('query', ({ sql }: { sql: string }) => void asked.push(sql));
            const polls = () => asked.filter((sql) => sql.includes('webhook_hosts') && sql.includes('oauth_flows')).length;
            await eventually(
                async () => polls(),
                (count) => count >= 15,
            );
            expect(asked.length - polls(), asked.join('\n')).to.be.at.most(polls() / 3);
        });
    });
});
