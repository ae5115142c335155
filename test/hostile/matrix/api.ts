import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { contentOf } from '../../../shared/domain/package/content.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import { publishPackage } from '../../../shared/store/registry/publish.ts';
import { type MeasuredApi, startMeasuredApi, type Turns } from '../../support/measured-api.ts';
import { type Answer, join, type Person } from '../../support/people.ts';
import { expectShortTurns } from '../../support/short-turns.ts';
import { openWorld, type World } from '../../support/world.ts';
import { HOSTILE_BODIES, Typed } from '../bodies.ts';
import { readsOf } from '../publishing.ts';
import type { HostilePackage } from '../requests.ts';
import type { Rows } from './rows.ts';

/** Goal X1: milliseconds of CPU of one turn of an API's event loop, and the share of turns that may take more than 25. */
const MAX_MS = 100;
const SLOW = 0.001;

export function describeApi({ checked, isTimed }: Rows): void {
    describe('an API under slow packages of strangers', () => {
        let world: World;
        let api: MeasuredApi;
        let eve: Person;

        before(async () => {
            world = await openWorld({ topology: 'postgres', workers: 1 });
            api = await startMeasuredApi({ DATABASE_URL: world.databaseUrl, EGRESS_ALLOW: '127.0.0.0/8' });
            const plenty = { perMinute: 1_000_000, perHour: 1_000_000, perDay: 1_000_000, allowance: 1_000_000, concurrency: 100 };
            eve = await join(world, { plan: 'enterprise', overrides: plenty });
            await send('GET', '/v1/account');
        });
        after(async () => {
            await api.stop();
            await world.close();
        });

        const all = { turns: 0, slow: 0 };
        const send = (method: string, path: string, body?: unknown): Promise<Answer> => {
            const sent = body instanceof Typed ? { body: body.text, headers: { 'content-type': body.type } } : { body };
            return eve.call(method, path, { ...sent, base: api.base });
        };
        const check = (turns: Turns, what: string, maxCharacters?: number) => {
            all.turns += turns.turns;
            all.slow += turns.slow;
            const bounds = maxCharacters === undefined ? {} : { maxCharacters };
            expectShortTurns(turns, { what, maxMs: isTimed ? MAX_MS : undefined, ...bounds });
        };

        async function store(hostile: HostilePackage, site: string): Promise<void> {
            if (hostile.isTaken) {
                const { turns, result } = await api.during(() => send('POST', '/v1/schemas', hostile.document(site)));
                expect(result.status, JSON.stringify(result.body).slice(0, 500)).to.equal(201);
                check(turns, 'publishing it');
                return;
            }
            const refused = await api.during(() => send('POST', '/v1/schemas', hostile.document(site)));
            expect([refused.result.status, JSON.stringify(refused.result.body).includes('TOO_COMPLEX')]).to.deep.equal([422, true]);
            check(refused.turns, 'refusing it');
            const document = hostile.document(site);
            const versionHash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
            const publisher = { workspaceId: eve.workspaceId, userId: eve.userId, accountId: eve.workspaceId, isLimited: false };
            const stored = await publishPackage(world.app.db, {
                document,
                content: contentOf(document),
                versionHash,
                registrable: site,
                publisher,
            });
            expect(stored.ok).to.equal(true);
        }

        for (const [index, hostile] of checked.entries()) {
            it(`serves everybody else: ${hostile.name}`, async () => {
                const site = `hostile${index}.test`;
                await store(hostile, site);
                for (const { endpoint, params } of hostile.calls) {
                    const { turns, result } = await api.during(() =>
                        send('POST', '/v1/fetch', { site, endpoint, params: params as JsonObject, dry_run: true }),
                    );
                    check(turns, `fetch ${result.status} ${JSON.stringify(result.body).slice(0, 100)}`);
                    expect(result.status).to.be.oneOf(hostile.isTaken ? [200, 400, 404] : [422]);
                    expect(JSON.stringify(result.body)).to.include(hostile.told ?? '');
                }
                for (const path of readsOf(site)) {
                    const { turns, result } = await api.during(() => send('GET', path));
                    expect(result.status, path).to.equal(200);
                    check(turns, path);
                }
            });
        }

        for (const { name, method, path, body, status, maxCharacters } of HOSTILE_BODIES) {
            it(`serves everybody else: ${name}`, async () => {
                const { turns, result } = await api.during(() => send(method, path, body));
                check(turns, `${name}: ${result.status} ${JSON.stringify(result.body).slice(0, 100)}`, maxCharacters);
                expect(result.status, JSON.stringify(result.body).slice(0, 500)).to.equal(status);
            });
        }

        it('releases the memory of all these bodies', async () => {
            for (const table of ['jobs', 'batches', 'batch_drafts'])
                expect(await world.app.db(table).first('*'), table).to.equal(undefined);
        });

        if (!isTimed) return;

        it('has hardly a turn of more than 25 ms during all of these', () => {
            expect(all.turns).to.be.above(10_000);
            expect(all.slow / all.turns, `${all.slow} of ${all.turns}`).to.be.at.most(SLOW);
        });
    });
}
