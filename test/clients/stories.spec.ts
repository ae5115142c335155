import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { untilIndexed } from '../support/find.ts';
import { join, type Person } from '../support/people.ts';
import { installPythonClient } from '../support/python.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite, type Seen, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';
import { runStory } from './run-stories.ts';
import { type Asked, type Outcome, STORIES, type Story, type WebhookFacts } from './stories.ts';

const KEY = 'rb_live_test';
const RUNNER = fileURLToPath(new URL('run_stories.py', import.meta.url));

/** Serves the responses of all stories. The path identifies client and story. */
async function openStoryServer(): Promise<
    Site & { base(mode: string, index: number): string; seenBy(mode: string, index: number): Seen[] }
> {
    const turns = new Map<string, number>();
    const site = await openSite((request, response) => {
        const [, mode, place] = request.url?.split('/', 3) ?? [];
        const turn = turns.get(`${mode}/${place}`) ?? 0;
        turns.set(`${mode}/${place}`, turn + 1);
        const { answers = [] } = STORIES[Number(place)] ?? {};
        play(answers[Math.min(turn, answers.length - 1)] ?? 'lost', response);
    });
    const prefix = (mode: string, index: number) => `/${mode}/${index}`;
    return {
        ...site,
        base: (mode, index) => `http://127.0.0.1:${site.port}${prefix(mode, index)}`,
        seenBy: (mode, index) => site.seen.filter(({ path }) => path.startsWith(`${prefix(mode, index)}/`)),
    };
}

function play(answer: NonNullable<Story['answers']>[number], response: ServerResponse): void {
    if (answer === 'lost') response.destroy();
    else if (answer === 'endless') sendEndless(response, 200);
    else if (answer === 'endless_error') sendEndless(response, 503);
    else if (answer !== 'never') {
        const { status, headers = {}, body, text = JSON.stringify(body) } = answer;
        response.writeHead(status, { 'content-type': body === undefined ? 'text/html' : 'application/json', ...headers }).end(text);
    }
}

/** Sends the beginning of a JSON text until the client closes the connection. */
function sendEndless(response: ServerResponse, status: number): void {
    const part = Buffer.alloc(64 * 1024, 'x');
    const send = () => {
        while (!response.destroyed && response.write(part));
    };
    response.writeHead(status, { 'content-type': 'application/json' }).write('{"data":"');
    response.on('drain', send);
    send();
}

/** A story with the headers that its sender would sign now. */
function signed(story: Story): Story {
    const { webhook, with: given } = story;
    return webhook === undefined ? story : { ...story, with: { ...given, headers: headersOf(webhook, given) } };
}

function headersOf({ id, age, secret, body, others = [], leave_out: left }: WebhookFacts, given: JsonObject): JsonObject {
    const sentAt = new Date(Math.floor(Date.now() / 1000 - age) * 1000);
    const own = new Webhook(secret ?? String(given['secret'])).sign(id, sentAt, body ?? String(given['body']));
    const headers: JsonObject = {
        'webhook-id': id,
        'webhook-timestamp': String(sentAt.getTime() / 1000),
        'webhook-signature': [...others, own].join(' '),
    };
    if (left !== undefined) delete headers[left];
    return headers;
}

/** Whether all expected values are present; objects and errors may have more. */
function holds(actual: unknown, expected: Json | undefined): boolean {
    if (Array.isArray(expected)) {
        return Array.isArray(actual) && actual.length === expected.length && expected.every((item, at) => holds(actual[at], item));
    }
    if (typeof expected === 'object' && expected !== null) {
        return (
            typeof actual === 'object' &&
            actual !== null &&
            Object.entries(expected).every(([name, value]) => holds((actual as Record<string, unknown>)[name], value))
        );
    }
    return actual === expected;
}

function check(story: Story, outcome: Outcome): void {
    const shown = JSON.stringify(outcome).slice(0, 1000);
    if (story.error !== undefined) {
        if (!('error' in outcome)) throw new Error(`it should fail, and was ${shown}`);
        return void expect(holds(outcome.error, story.error), shown).to.equal(true);
    }
    if (!('result' in outcome)) throw new Error(`it failed: ${shown}`);
    const { sort_by: by } = story;
    const result = by === undefined ? outcome.result : sorted(outcome.result, by);
    if (story.result !== undefined) expect(holds(result, story.result), shown).to.equal(true);
    if (story.result_text !== undefined) expect(outcome.text).to.include(story.result_text);
}

function sorted(list: Json, by: string): Json {
    return (list as JsonObject[]).toSorted((one, other) => String(one[by]).localeCompare(String(other[by])));
}

function checkAsked({ asked, one_key: isOneKey }: Story, seen: readonly Seen[]): void {
    if (isOneKey) {
        const keys = new Set(seen.map(({ headers }) => headers['idempotency-key']));
        expect([...keys])
            .to.have.lengthOf(1)
            .and.to.satisfy(([key]: unknown[]) => /^[0-9a-f]{32}$/.test(String(key)));
    }
    if (asked === undefined) return;
    expect(seen.map(({ method, path }) => `${method} ${path}`)).to.have.lengthOf(asked.length);
    for (const [place, request] of seen.entries()) checkRequest(request, asked[place] ?? {});
}

function checkRequest({ method, path, headers, body }: Seen, expected: Asked): void {
    const { pathname, searchParams } = new URL(path, 'http://server');
    if (expected.method !== undefined) expect(method).to.equal(expected.method);
    if (expected.path !== undefined) expect(pathname).to.match(new RegExp(`^/[a-z]+/\\d+${expected.path}$`));
    if (expected.query !== undefined) expect(Object.fromEntries(searchParams)).to.include(expected.query);
    if (expected.headers !== undefined) expect(headers).to.include(expected.headers);
    if (expected.without !== undefined) expect(headers).not.to.have.any.keys(...expected.without);
    if (expected.body !== undefined) expect(JSON.parse(body)).to.deep.equal(expected.body);
    if (expected.lines !== undefined) {
        const lines = body.trimEnd().split('\n');
        expect(lines).to.have.lengthOf(expected.lines);
        expect(JSON.parse(lines.at(-1) ?? '')).to.deep.equal({ params: { id: expected.lines - 1 } });
    }
}

describe('every client keeps the same promises', () => {
    let folder: string;
    let world: World;
    let shop: Shop;
    let maker: Person;
    let server: Awaited<ReturnType<typeof openStoryServer>>;

    before(async () => {
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-stories-'));
        server = await openStoryServer();
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        maker = await join(world, { plan: 'enterprise' });
        const gone = {
            ...anEndpoint(SHOP, { name: 'gone', description: 'A page that is no longer there.', params: [] }),
            url: `http://${SHOP}:${shop.port}/status/404`,
        };
        const document = shopPackage(shop.port);
        dataOf(await maker.publish({ ...document, endpoints: [...document.endpoints, gone] }));
        dataOf(await maker.publish(aPackage('other.test')));
        await untilIndexed(world);
    });
    after(async () => {
        await server?.close();
        await world?.close();
        await shop?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true });
    });

    const addressOf = (mode: string, index: number) =>
        STORIES[index]?.live ? { base: world.base, key: maker.apiKey ?? '' } : { base: server.base(mode, index), key: KEY };

    describe('in TypeScript', () => {
        for (const [index, story] of STORIES.entries()) {
            it(story.story, async () => {
                const { base, key } = addressOf('ts', index);
                check(story, await runStory(signed(story), base, key));
                checkAsked(story, server.seenBy('ts', index));
            });
        }
    });

    describe('in Python', () => {
        const outcomes = new Map<string, Outcome[]>();

        before(async function () {
            needs(this, 'python');
            const python = await installPythonClient(folder);
            for (const mode of ['python', 'asyncio']) {
                const input = STORIES.map((story, index) => {
                    const { base, key } = addressOf(mode, index);
                    return { mode, base, api_key: key, story: signed(story) };
                });
                const shown = JSON.parse(await python.run([RUNNER], { input: JSON.stringify(input) })) as {
                    where: string;
                    outcomes: Outcome[];
                };
                expect(shown.where, 'the installed client').to.match(/site-packages\/routebook$/);
                outcomes.set(mode, shown.outcomes);
            }
        });

        for (const mode of ['python', 'asyncio']) {
            describe(mode === 'python' ? 'with blocking calls' : 'with asyncio', () => {
                for (const [index, story] of STORIES.entries()) {
                    it(story.story, () => {
                        check(story, outcomes.get(mode)?.[index] as Outcome);
                        checkAsked(story, server.seenBy(mode, index));
                    });
                }
            });
        }
    });
});
