import { expect } from 'chai';
import type { JsonObject } from '../../../shared/domain/types.ts';
import { type MeasuredApi, startMeasuredApi } from '../../support/measured-api.ts';
import { join, type Person } from '../../support/people.ts';
import { anEndpoint, aPackage } from '../../support/schemas.ts';
import { TEST_SECRET_KEYS } from '../../support/secrets.ts';
import { expectShortTurns } from '../../support/short-turns.ts';
import { storePackage } from '../../support/stored-package.ts';
import { watchTree } from '../../support/tree-memory.ts';
import { openWorld, type World } from '../../support/world.ts';
import type { Bomb } from '../packages.ts';
import { type BombSite, codeOfMillions, GROWN_BYTES, millionsOfValues, openBombSite, scaled } from './bomb-site.ts';
import type { Rows } from './rows.ts';

/** A program that people and agents call endpoints with, beside `POST /v1/fetch`. */
export interface Surface {
    /** Calls an endpoint and returns the result or error. */
    call(site: string, endpoint: string): Promise<CallResult>;
    /** Everything that it does with an endpoint before it calls it. */
    check(site: string, endpoint: string, params: JsonObject): Promise<void>;
    close(): Promise<void>;
}

interface CallResult {
    /** Undefined for a success. */
    code: string | undefined;
    /** Characters of the response. */
    length: number;
    /** Whether the response says that there is more. */
    isCut: boolean;
}

/** Goal X1: milliseconds of CPU of one turn of an API's event loop. */
const TURN_MS = 100;
const UNBOUNDED = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };

/** Runs hostile packages through a surface, beside a normal site. */
export function describeSurface(
    name: string,
    open: (world: World, api: MeasuredApi) => Promise<Surface>,
    { read, checked, scales, values, isTimed }: Rows,
): void {
    const maxMs = isTimed ? TURN_MS : undefined;

    describe(`${name}, and a package that`, () => {
        let world: World;
        let api: MeasuredApi;
        let site: BombSite;
        let surface: Surface;
        let mallory: Person;
        let ada: Person;

        before(async () => {
            site = await openBombSite();
            const hosts = new Map(['bombs.test', 'good.test'].map((host) => [host, ['127.0.0.1']]));
            world = await openWorld({ topology: 'postgres', config: { egressHosts: hosts } });
            const { databaseUrl: DATABASE_URL } = world;
            api = await startMeasuredApi({ DATABASE_URL, EGRESS_ALLOW: '127.0.0.0/8', SECRET_KEYS: TEST_SECRET_KEYS });
            mallory = await join(world, { plan: 'enterprise', overrides: UNBOUNDED });
            ada = await join(world, { plan: 'enterprise', overrides: UNBOUNDED });
            const good = anEndpoint('good.test', { name: 'read', params: [], url: `http://good.test:${site.port}/good` });
            expect((await ada.publish(aPackage('good.test', { endpoints: [good] }))).status).to.equal(201);
            surface = await open(world, api);
        });
        after(async () => {
            await surface?.close();
            await api.stop();
            await world.close();
            await site.close();
        });

        async function callAll(bombs: Record<string, Bomb>): Promise<Map<string, CallResult>> {
            const endpoints = site.load('bombs.test', bombs);
            const published = await mallory.publish(aPackage('bombs.test', { endpoints }));
            expect(published.status, JSON.stringify(published.body)).to.be.oneOf([200, 201]);
            const watched = watchTree(process.pid);
            const results = new Map<string, CallResult>();
            const { turns } = await api.during(async () => {
                const good = ada.call('POST', '/v1/fetch', { body: { site: 'good.test', endpoint: 'read', params: {} }, base: api.base });
                for (const scale of scales) results.set(scale, await surface.call('bombs.test', scale));
                expect((await good).status, 'the good site').to.equal(200);
            });
            expectShortTurns(turns, { maxMs });
            expect(watched().grown, 'bytes that the worker and its processes grew by').to.be.below(GROWN_BYTES);
            return results;
        }

        for (const { name: does, at, code } of read) {
            it(`${does} uses a limited part of a worker, and others get their responses`, async () => {
                const results = await callAll(scaled(at, scales));
                expect(results.get('whole')?.code).to.equal(code);
                for (const { code: each } of results.values()) expect(each).to.be.oneOf([undefined, code, 'UPSTREAM_TOO_LARGE']);
            });
        }

        it('returns millions of values shows only the beginning, in short turns', async () => {
            const results = await callAll(millionsOfValues(scales, values));
            expect([...results.values()].map(({ code }) => code)).to.deep.equal(scales.map(codeOfMillions));
            for (const { code, isCut, length } of results.values()) {
                expect(isCut).to.equal(code === undefined);
                expect(length).to.be.below(1_000_000);
            }
        });

        for (const [index, hostile] of checked.entries()) {
            it(`has ${hostile.name} causes only short turns of an API`, async () => {
                const host = `hard${index}.test`;
                const document = hostile.document(host);
                if (hostile.isTaken) expect((await mallory.publish(document)).status).to.equal(201);
                else await storePackage(world, document, mallory);
                for (const { endpoint, params } of hostile.calls) {
                    const { turns } = await api.during(() => surface.check(host, endpoint, params));
                    expectShortTurns(turns, { maxMs });
                }
            });
        }
    });
}
