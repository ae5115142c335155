import { expect } from 'chai';
import { createEndpointWordCounts } from '../../shared/store/registry/endpoint-words.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'wordy.test';
const MANY = 60_000;

describe('the counts of words of endpoints', () => {
    const world = useWorld({ workers: 0 });
    before(async () => {
        const ada = await join(world, { plan: 'pro' });
        dataOf(await ada.publish(aPackage(SITE)));
        await world.app.db.raw(
            `with made as materialized (
                 select nextval('endpoint_ids') as id, place from generate_series(1, :many) as place
             ), entered as (
                 insert into endpoint_entries (endpoint_id, entry) select id, '{}' from made
             )
             insert into endpoints (id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search,
                                    brevity, needs_id)
             select m.id, s.site, s.registrable, s.latest_version_id, m.place, 'e' || m.place, 'api_call', 'read', s.intent_category, false,
                    case when m.place % 64 = 0 then 0 when m.place % 8 = 0 then 1 else 2 end,
                    (case m.place when 1 then '''rare'':1A' else '''usual'':1A' end)::tsvector, 1, false
             from made m, sites s where s.site = :site`,
            { many: MANY, site: SITE },
        );
        await world.app.db.raw('analyze endpoints');
    });

    it('are known for common words of a large registry before a task has them, and not for others', async () => {
        const asked: Promise<unknown>[] = [];
        const words = createEndpointWordCounts((question) => {
            const answer = question(world.app.db);
            asked.push(answer);
            return answer;
        });
        expect((await words.count(['rare'])).counts.get('rare')).to.equal(1);
        await Promise.all(asked);
        const before = asked.length;
        // Estimated from the sample of one in 64.
        expect((await words.count(['usual'])).counts.get('usual')).to.be.closeTo(MANY, 64);
        expect(asked).to.have.lengthOf(before);
        expect((await words.count(['absent'])).counts.get('absent')).to.equal(0);
        expect(asked).to.have.lengthOf(before + 1);
    });
});
