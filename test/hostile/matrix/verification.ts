import { expect } from 'chai';
import type { Finding } from '../../../shared/domain/package/verification.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import * as verification from '../../../shared/store/registry/verification.ts';
import { eventually } from '../../support/eventually.ts';
import { type Measured, startMeasuredWorker } from '../../support/measured-api.ts';
import { join, type Person } from '../../support/people.ts';
import { anEndpoint, aPackage } from '../../support/schemas.ts';
import { TEST_SECRET_KEYS } from '../../support/secrets.ts';
import { expectShortTurns } from '../../support/short-turns.ts';
import { storePackage } from '../../support/stored-package.ts';
import { watchTree } from '../../support/tree-memory.ts';
import { openWorld, type World } from '../../support/world.ts';
import type { Bomb } from '../packages.ts';
import { branches } from '../requests.ts';
import { type BombSite, codeOfMillions, GROWN_BYTES, millionsOfValues, openBombSite, SCALES, scaled } from './bomb-site.ts';
import type { Rows } from './rows.ts';

const PATIENCE_MS = 100_000;
/** Milliseconds of CPU of one turn of a worker: the share of one call for validating its params, and the rest. */
const TURN_MS = 250;

async function ended(world: World, host: string): Promise<Finding[]> {
    const state = () => verification.readState(world.app.db, host);
    await eventually(state, ({ endedAt }) => endedAt !== null, PATIENCE_MS);
    return (await state()).findings;
}

export function describeVerification({ read, scales, values, isTimed }: Rows): void {
    describe('a verification run of a package that', () => {
        let world: World;
        let site: BombSite;
        let mallory: Person;
        let ada: Person;

        before(async () => {
            site = await openBombSite();
            const names = ['good.test', 'millions.test', ...read.map((_, row) => `bombs${row}.test`)];
            const hosts = new Map(names.map((name) => [name, ['127.0.0.1']]));
            world = await openWorld({ config: { egressHosts: hosts }, verifier: { paceMs: 0, pollMs: 20 } });
            mallory = await join(world, { plan: 'pro' });
            ada = await join(world, { plan: 'pro' });
            const good = anEndpoint('good.test', { name: 'read', params: [], url: `http://good.test:${site.port}/good` });
            expect((await ada.publish(aPackage('good.test', { endpoints: [good] }))).status).to.equal(201);
        });
        after(async () => {
            await world.close();
            await site.close();
        });

        async function run(host: string, bombs: Record<string, Bomb>): Promise<Map<string, Finding>> {
            const endpoints = site.load(host, bombs);
            const watched = watchTree(process.pid);
            const published = await mallory.publish(aPackage(host, { endpoints }));
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
            const [findings, good] = await Promise.all([ended(world, host), ada.fetch('good.test', 'read')]);
            expect(good.status, 'the good site').to.equal(200);
            expect(watched().grown, 'bytes that the worker and its processes grew by').to.be.below(GROWN_BYTES);
            expect(findings.map(({ name }) => name)).to.deep.equal(scales);
            return new Map(findings.map((finding) => [finding.name, finding]));
        }

        for (const [row, { name, at, code }] of read.entries()) {
            it(`${name} uses a limited part of the worker, and others get their responses`, async () => {
                const findings = await run(`bombs${row}.test`, scaled(at, scales));
                expect(findings.get('whole')).to.include({ verdict: 'failed', code });
                for (const finding of findings.values()) expect(finding.code).to.be.oneOf([null, code, 'UPSTREAM_TOO_LARGE']);
            });
        }

        it('returns millions of values uses a limited part of the worker', async () => {
            const findings = await run('millions.test', millionsOfValues(scales, values));
            expect([...findings.values()].map(({ code }) => code)).to.deep.equal(scales.map((scale) => codeOfMillions(scale) ?? null));
        });
    });

    describe('a worker that verifies versions with schemas of any size', () => {
        const counts = scales.map((scale) => 240 * SCALES[scale]);
        let world: World;
        let worker: Measured;
        let site: BombSite;
        let eve: Person;

        before(async () => {
            site = await openBombSite();
            const names = ['good.test', ...counts.map((count) => `branches${count}.test`)];
            world = await openWorld({ topology: 'postgres', workers: 0 });
            worker = startMeasuredWorker({
                DATABASE_URL: world.databaseUrl,
                SECRET_KEYS: TEST_SECRET_KEYS,
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: names.map((name) => `${name}=127.0.0.1`).join(','),
            });
            eve = await join(world);
            await storePackage(world, aPackage('good.test', { endpoints: [searchOf('good.test', {}, {})] }), eve);
            expect((await ended(world, 'good.test')).map(({ verdict }) => verdict)).to.deep.equal(['passed']);
        });
        after(async () => {
            await worker.stop();
            await world.close();
            await site.close();
        });

        function searchOf(host: string, schemas: JsonObject, params: JsonObject, name = 'find') {
            return anEndpoint(host, {
                name,
                kind: 'search',
                method: 'POST',
                effect: 'read',
                url: `http://${host}:${site.port}/${name}`,
                params: Object.entries(schemas).map(([param, schema]) => ({
                    name: param,
                    source: 'body',
                    required: false,
                    schema: schema as JsonObject,
                })),
                examples: [{ params }],
            });
        }

        for (const count of counts) {
            it(`checks 30 params of ${count} branches each within a short turn`, async () => {
                const host = `branches${count}.test`;
                const places = Array.from({ length: 30 }, (_, place) => place);
                const schemas = Object.fromEntries(places.map((place) => [`p${place}`, branches(count, place)])) as JsonObject;
                const unfit = Object.fromEntries(places.map((place) => [`p${place}`, { nothing: place }]));
                const fit = Object.fromEntries(places.map((place) => [`p${place}`, { [`k${place}_${count - 1}`]: count - 1 }]));
                const endpoints = [searchOf(host, schemas, unfit, 'unfit'), searchOf(host, schemas, fit, 'fit')];
                const { turns, result } = await worker.during(async () => {
                    await storePackage(world, aPackage(host, { endpoints }), eve);
                    return ended(world, host);
                });
                expect(result.map(({ code }) => code)).to.deep.equal(['INVALID_PARAMS', null]);
                // A worker reads the text of the package on its event loop.
                expectShortTurns(turns, { maxCharacters: 12_000 * count, maxMs: isTimed ? TURN_MS : undefined });
            });
        }
    });
}
