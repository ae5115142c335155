import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { contentOf } from '../../shared/domain/package/content.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

const SITE = 'large.test';
const VERSIONS = 15;
const MIB = 1024 * 1024;
/** The memory that one account may use of a process. */
const MAX_MIB = 64;

describe('a batch that names many versions of large packages', () => {
    const world = useWorld({ workers: 0 });
    let eve: Person;

    before(async () => {
        eve = await join(world, { plan: 'enterprise' });
        for (let version = 1; version <= VERSIONS; version++) await store(version);
    });

    async function store(version: number): Promise<void> {
        const many = Array.from({ length: 300_000 }, () => [version]);
        const document = aPackage(SITE, { endpoints: [anEndpoint(SITE, { response: { schema: { const: many } } })] });
        const stored = await publishPackage(world.app.db, {
            document,
            content: contentOf(document),
            versionHash: createHash('sha256').update(String(version)).digest('hex'),
            registrable: SITE,
            publisher: { workspaceId: eve.workspaceId, userId: eve.userId, accountId: eve.workspaceId, isLimited: false },
        });
        expect(stored.ok).to.equal(true);
    }

    it('does not keep them in memory', async () => {
        setFlagsFromString('--expose-gc');
        const collect = runInNewContext('gc') as () => void;
        const heap = () => {
            collect();
            return process.memoryUsage().heapUsed / MIB;
        };
        const sent = request(`${world.base}/v1/batches?dry_run=true`, {
            method: 'POST',
            headers: { authorization: `Bearer ${eve.apiKey}`, 'content-type': 'application/x-ndjson' },
        });
        const answered = new Promise<number>((resolve, reject) => {
            sent.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
        });
        let loads = 0;
        const { load } = world.app.versions;
        world.app.versions.load = (id) => {
            loads += 1;
            return load(id);
        };
        const before = heap();
        for (let version = 1; version <= VERSIONS; version++) {
            sent.write(`${JSON.stringify({ site: SITE, endpoint: 'product', version })}\n`);
        }
        await eventually(
            async () => loads,
            (done) => done >= VERSIONS,
        );
        await eventually(
            async () => heap() - before,
            (grown) => grown < MAX_MIB,
        );
        sent.end();
        expect(await answered).to.equal(400);
    });
});
