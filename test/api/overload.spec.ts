import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import * as sites from '../../shared/store/registry/sites.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite } from '../support/flaky-site.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const SITE = 'busy.test';
const CROWD = 200;
const IMPATIENCE_MS = 50;
/** Browsing calls per second that are always admitted: few, so that even a slow machine sends more. */
const ALWAYS_ADMITTED = 20;

const soon = (response: ServerResponse) =>
    void setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'), 30);

describe('more fetches than workers can do', () => {
    let world: World;
    let site: FlakySite;
    let ada: Person;

    before(async () => {
        site = await openFlakySite();
        const topology = TOPOLOGIES.at(-1) ?? 'postgres';
        world = await openWorld({
            topology,
            config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]), workerConcurrency: 4, browsedPerSecond: ALWAYS_ADMITTED },
        });
        const plenty = { perMinute: 1_000_000, perHour: 1_000_000, perDay: 1_000_000, allowance: 1_000_000, concurrency: 10_000 };
        ada = await join(world, { plan: 'enterprise', overrides: plenty });
        expect((await ada.publish(flakyPackage(SITE, site.port))).status).to.equal(201);
        await sites.setDomain(world.app.db, SITE, { concurrency: 10_000 });
        // About 130 a second with four slots.
        site.behaviour = soon;
    });
    after(async () => {
        await world.close();
        await site.close();
    });

    it('are refused at once with Retry-After, free of charge and before the site; the others succeed, and soon all do', async () => {
        // The first fetch earns a bonus.
        expect((await ada.fetch(SITE, 'thing')).status).to.equal(200);
        site.arrivals.length = 0;
        const before = await balanceOf(ada);
        const { answers, refused } = await crowd(ada, 30);
        const succeeded = answers.filter(({ status }) => status === 200).length;
        expect(succeeded).to.be.above(CROWD / 2);
        expect(succeeded + refused.length, 'nothing else was answered').to.equal(answers.length);
        for (const answer of refused) {
            expect(codeOf(answer)).to.equal('OVERLOADED');
            const error = answer.body['error'] as Record<string, unknown>;
            expect(error).to.include({ fault: 'service', retryable: true, status: 503 });
            expect(Number(answer.headers.get('retry-after')))
                .to.equal(error['retry_after'])
                .and.to.be.within(1, 30);
            expect(answer.headers.get('ratelimit'), 'it was not counted').to.equal(null);
        }
        expect(before - (await balanceOf(ada))).to.equal(succeeded);
        expect(site.arrivals.length).to.equal(succeeded);

        await Promise.all(Array.from({ length: 30 }, async () => expect((await ada.fetch(SITE, 'thing')).status).to.equal(200)));
        const outcomes = async () => (await fetch(`${world.base}/metrics`)).text();
        await eventually(outcomes, (text) => text.includes(`outcome="OVERLOADED"} ${refused.length}`));
        const told = world.logged.filter((line) => line['part'] === 'overload');
        expect(told.reduce((sum, line) => sum + Number(line['refused']), 0)).to.equal(refused.length);
    });

    it('are refused as well for agents, while browsing works', async () => {
        const agent = new Client({ name: 'test', version: '1' });
        const requestInit = { headers: { authorization: `Bearer ${ada.apiKey}` } };
        // The SDK's own types disagree under exactOptionalPropertyTypes.
        await agent.connect(new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }) as Transport);
        const told: unknown[] = [];
        const rejected = async () => {
            const { values } = await world.app.metrics.fetches.get();
            return values.reduce((sum, { labels, value }) => sum + (labels['outcome'] === 'OVERLOADED' ? value : 0), 0);
        };
        const before = await rejected();
        const { refused } = await crowd(ada, 10, async () => {
            expect((await ada.call('GET', `/v1/schemas/${SITE}`)).status).to.equal(200);
            while (!JSON.stringify(told.at(-1) ?? '').includes('OVERLOADED')) {
                told.push(await agent.callTool({ name: 'fetch', arguments: { site: SITE, endpoint: 'thing' } }));
            }
        });
        await agent.close();
        expect(told.at(-1)).to.include({ isError: true });
        const forAgent = told.filter((answer) => JSON.stringify(answer).includes('OVERLOADED')).length;
        // The metric has each once.
        const all = before + refused.length + forAgent;
        await eventually(rejected, (count) => count >= all);
        expect(await rejected()).to.equal(all);
    });

    it('do not include requests that are still arriving: however many bodies come slowly, others succeed', async () => {
        const { port } = new URL(world.base);
        const head = `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ada.apiKey}\r\nContent-Type: application/json\r\n`;
        const slow = Array.from({ length: CROWD }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
        await Promise.all(slow.map((socket) => new Promise((sent) => void socket.write(`${head}Content-Length: 1000\r\n\r\n{`, sent))));
        try {
            const statuses = new Set<number>();
            // Longer than the time that a burst may take.
            for (let call = 0; call < 60; call++) statuses.add((await ada.fetch(SITE, 'thing')).status);
            expect([...statuses]).to.deep.equal([200]);
        } finally {
            for (const socket of slow) socket.destroy();
        }
    });

    it('do not include a few slow calls, although a slow site looks like stopped workers', async () => {
        // They wait for each other, so that the completion rate is known.
        await Promise.all(Array.from({ length: 40 }, () => ada.fetch(SITE, 'thing')));
        const held: ServerResponse[] = [];
        site.behaviour = (response) => void held.push(response);
        const few = Array.from({ length: 40 }, () => ada.fetch(SITE, 'thing'));
        await areWaiting(few.length);
        await pause(1500);
        few.push(ada.fetch(SITE, 'thing'));
        try {
            await areWaiting(few.length);
        } finally {
            site.behaviour = soon;
            for (const response of held) soon(response);
        }
        for (const { status } of await Promise.all(few)) expect(status).to.equal(200);
    });

    it('are refused, too, if they would time out in the queue; calls with more time wait', async () => {
        // Eight a second with four slots.
        site.behaviour = (response) => void setTimeout(soon, 470, response);
        const crowd = Array.from({ length: 50 }, () => ada.fetch(SITE, 'thing'));
        // After a pause without calls, no delay would be estimated.
        for (let answered = 0; answered < 20; crowd.push(ada.fetch(SITE, 'thing'))) {
            await pause(500);
            answered = crowd.length - world.app.queue.waiting();
        }
        const refused = await ada.fetch(SITE, 'thing', {}, { timeout_ms: 2000 });
        expect([refused.status, codeOf(refused)]).to.deep.equal([503, 'OVERLOADED']);
        expect(Number(refused.headers.get('retry-after'))).to.be.within(2, 15);
        expect(refused.headers.get('ratelimit'), 'it was not counted').to.equal(null);
        expect((await ada.fetch(SITE, 'thing', {}, { timeout_ms: 2000, dry_run: true })).status, 'it needs no worker').to.equal(200);
        const patient = await ada.fetch(SITE, 'thing', {}, { timeout_ms: 30_000 });
        expect(patient.status).to.equal(200);
        for (const { status } of await Promise.all(crowd)) expect(status).to.equal(200);
        site.behaviour = soon;
    });

    it('throttle browsing, by API or page, beyond the rate that each process always admits; without fetches nothing is throttled', async () => {
        let isFetching = true;
        const fetching = (async () => {
            const statuses: number[] = [];
            while (isFetching) statuses.push((await ada.fetch(SITE, 'thing')).status);
            return statuses;
        })();
        const refused: Answer[] = [];
        let [read, refusedPages, shownPages] = [0, 0, 0];
        const browse = async () => {
            while (refused.length < 30 || read < ALWAYS_ADMITTED / 2) {
                const answer = await ada.call('GET', `/v1/schemas/${SITE}?`);
                if (answer.status === 200) read++;
                else refused.push(answer);
            }
        };
        const open = async () => {
            while (refusedPages < 30 || shownPages < 30) {
                // Another spelling is the same page.
                const url = `${world.base}/${refusedPages % 2 === 0 ? 'registry' : '%72egistry'}/${SITE}?page=1`;
                const isBrowser = shownPages < refusedPages;
                const page = await fetch(url, { headers: { accept: isBrowser ? 'text/html,*/*' : '*/*' } });
                const text = await page.text();
                if (page.status !== 503) continue;
                expect(page.headers.get('retry-after')).to.equal('1');
                if (isBrowser) expect(text).to.match(/^<!doctype html>.*<h1>Please try again in a moment/s);
                else expect(JSON.parse(text).error.code).to.equal('SERVICE_UNAVAILABLE');
                if (isBrowser) shownPages++;
                else refusedPages++;
            }
        };
        await Promise.all(Array.from({ length: 16 }, browse));
        await Promise.all(Array.from({ length: 16 }, open));
        isFetching = false;
        expect(new Set(await fetching)).to.deep.equal(new Set([200]));
        for (const answer of refused) {
            expect([answer.status, codeOf(answer), answer.headers.get('retry-after')]).to.deep.equal([503, 'SERVICE_UNAVAILABLE', '1']);
        }
        const counted = `route="/v1/schemas/{site}",status="503"} ${refused.length}`;
        const countedPages = `route="/registry/{site}",status="503"} ${refusedPages + shownPages}`;
        await eventually(
            async () => (await fetch(`${world.base}/metrics`)).text(),
            (text) => text.includes(counted) && text.includes(countedPages),
            10_000,
        );

        // More than is always admitted, but nobody fetches any more.
        const many = async () => {
            const statuses: number[] = [];
            const read = async () => {
                for (let one = 0; one < 20; one++) statuses.push((await ada.call('GET', `/v1/schemas/${SITE}`)).status);
                statuses.push((await fetch(`${world.base}/registry/${SITE}`)).status);
            };
            await Promise.all(Array.from({ length: 16 }, read));
            return statuses;
        };
        await eventually(many, (statuses) => statuses.every((status) => status === 200), 20_000);
    });

    async function areWaiting(count: number): Promise<void> {
        await eventually(
            async () => world.app.queue.waiting(),
            (calls) => calls === count,
            10_000,
        );
    }
});

/**
 * This many callers retry until this many calls were refused, and then finish their last call.
 * @param meanwhile runs after the first refusal; the callers continue until it is done
 */
async function crowd(
    person: Person,
    enough: number,
    meanwhile: () => Promise<void> = async () => {},
): Promise<{ answers: Answer[]; refused: Answer[] }> {
    const answers: Answer[] = [];
    const refused: Answer[] = [];
    let beside: Promise<void> | undefined;
    let isBesideDone = false;
    const ask = async () => {
        while (!isBesideDone || refused.length < enough) {
            const answer = await person.fetch(SITE, 'thing');
            answers.push(answer);
            if (answer.status !== 503) continue;
            refused.push(answer);
            beside ??= meanwhile().finally(() => {
                isBesideDone = true;
            });
            // Far shorter than Retry-After.
            await pause(IMPATIENCE_MS);
        }
    };
    await Promise.all(Array.from({ length: CROWD }, ask));
    await beside;
    return { answers, refused };
}
