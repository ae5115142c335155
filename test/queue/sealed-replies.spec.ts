import { expect } from 'chai';
import { openDb } from '../../shared/platform/db.ts';
import { aJob, success } from './jobs.ts';
import { openQueueFixture, type QueueFixture } from './queue-fixture.ts';

describe('replies of workers in PostgreSQL', () => {
    let fixture: QueueFixture;

    before(async () => {
        fixture = await openQueueFixture('postgres');
    });
    after(() => fixture.remove());

    it('are encrypted while they are stored', async () => {
        const db = openDb({ url: fixture.place.databaseUrl, acquireTimeoutMs: 10_000 });
        try {
            // Replies are deleted when they are read. The trigger keeps a copy of what was written.
            await db.raw(`
                create table stored_replies (body text);
                create function keep_reply() returns trigger language plpgsql as $$
                begin
                    insert into public.stored_replies values (new.body);
                    return new;
                end $$;
                create trigger keep_reply before insert on queue_replies for each row execute function keep_reply();
            `);
            const api = fixture.openQueue('api');
            fixture.openQueue('worker').consume(async () => success({ text: 'planted-7f3a' }), { concurrency: 1 });
            const outcome = await api.run(aJob());
            expect(outcome.ok && outcome.text).to.equal('{"text":"planted-7f3a"}');
            const { rows } = await db.raw<{ rows: { body: string }[] }>('select body from stored_replies');
            expect(rows).to.have.length(1);
            for (const { body } of rows) {
                for (const text of [body, Buffer.from(body, 'base64').toString('latin1')]) expect(text).not.to.include('planted');
            }
        } finally {
            await db.destroy();
        }
    });
});
