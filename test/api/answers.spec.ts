import { expect } from 'chai';
import { stepsOf } from '../../shared/domain/package/endpoint.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { ROWS } from '../fixtures/answers/all.ts';
import type { Row, SentRequest, SiteAnswer } from '../fixtures/answers/row.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { openSite, type Seen, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

/** A package has at most 500 endpoints. */
const PER_SITE = 400;
const SITES = Array.from({ length: Math.ceil(ROWS.length / PER_SITE) }, (_, index) => `answers${index}.test`);

for (const topology of ANY_TOPOLOGY) {
    describe(`a call of a site that responds in every format and behaviour of the table, with the queue in ${topology}`, () => {
        let world: World;
        let site: Site;
        let caller: Person;

        before(async () => {
            site = await openSite((request, response) => {
                const row = rowOf(request.url ?? '');
                const answers = row?.answers ?? [{}];
                const before = site.seen.filter(({ path }) => rowOf(path) === row).length - 1;
                const siteAnswer = answers[Math.min(before, answers.length - 1)] ?? {};
                if (siteAnswer.stalls === true) return;
                const { status, headers, bytes } = toSend(siteAnswer, request.url ?? '');
                response.writeHead(status, headers).end(bytes);
            });
            const hosts = SITES.map((name): [string, string[]] => [name, ['127.0.0.1']]);
            world = await openWorld({ topology, config: { egressHosts: new Map(hosts) } });
            caller = await join(world, { plan: 'enterprise', credits: 100_000, overrides: { perMinute: 1000 } });
            const endpoints = ROWS.map((row, place) => endpointOf(row, place, site.port));
            for (const [index, name] of SITES.entries()) {
                const published = await caller.publish({
                    format: 'routebook/1',
                    site: name,
                    title: 'Answers of every shape',
                    intent_category: 'commerce/product-search',
                    endpoints: endpoints.slice(index * PER_SITE, (index + 1) * PER_SITE),
                });
                expect(published.status, JSON.stringify(published.body, null, 1)).to.equal(201);
            }
        });

        after(async () => {
            await world.close();
            await site.close();
        });

        for (const [place, row] of ROWS.entries()) {
            it(row.title, async () => {
                const before = site.seen.length;
                const answer = await call(caller, row, place);
                const sent = site.seen.slice(before);
                checkAnswer(row, answer);
                if (row.error !== undefined && row.sent === undefined) return;
                await checkSent(row.sent ?? sent.map(() => ({})), sent, place);
            });
        }
    });
}

function call(caller: Person, { params = {}, paramsText, call: more = {} }: Row, place: number): Promise<Answer> {
    if (paramsText === undefined) return caller.fetch(siteOf(place), nameOf(place), params, more);
    return caller.call('POST', '/v1/fetch', { body: `{"site":"${siteOf(place)}","endpoint":"${nameOf(place)}","params":${paramsText}}` });
}

function checkAnswer({ data, text, shown, meta, error }: Row, { status, body, text: told }: Answer): void {
    if (error === undefined) {
        expect(status, told).to.equal(200);
        if (data !== undefined) expect(body['data']).to.deep.equal(data);
        if (text !== undefined) expect(told).to.include(`"data":${text},"meta":`);
        if (shown !== undefined) expect((body['data'] as { request: object }).request).to.deep.include(shown);
        if (meta !== undefined) expect(body['meta']).to.deep.include(meta);
        return;
    }
    const refused = body['error'] as
        | { code: string; message: string; retryable: boolean; details?: { path: string; code: string }[] }
        | undefined;
    expect(refused?.code, told).to.equal(error.code);
    if (error.message !== undefined) expect(refused?.message).to.equal(error.message);
    if (error.retryable !== undefined) expect(refused?.retryable).to.equal(error.retryable);
    if (error.details === undefined) return;
    expect(refused?.details?.map(({ path, code }) => `${path} ${code}`)).to.deep.equal(error.details);
}

async function checkSent(expected: readonly SentRequest[], seen: readonly Seen[], place: number): Promise<void> {
    expect(seen.map(({ method, path }) => `${method} ${path}`)).to.have.length(expected.length);
    for (const [index, { path, headers = {}, body, parts }] of expected.entries()) {
        const request = seen[index];
        if (path !== undefined) expect(request?.path).to.equal(`/${nameOf(place)}${path}`);
        if (body !== undefined) expect(request?.body.replaceAll(boundaryOf(request), 'BOUNDARY')).to.equal(body);
        if (parts !== undefined) expect(await partsOf(request)).to.deep.equal(parts);
        for (const [name, value] of Object.entries(headers)) expect(request?.headers[name] ?? null, name).to.equal(value);
    }
}

function boundaryOf({ headers }: Seen): string {
    return /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1] ?? 'no boundary';
}

async function partsOf(request: Seen | undefined): Promise<unknown> {
    const headers = { 'content-type': request?.headers['content-type'] ?? '' };
    const form = await new Response(request?.bytes ?? '', { headers }).formData();
    return Promise.all([...form].map(async ([name, value]) => [name, typeof value === 'string' ? value : await fileOf(value)]));
}

async function fileOf(file: File) {
    return { filename: file.name, content_type: file.type, base64: Buffer.from(await file.arrayBuffer()).toString('base64') };
}

/** The first segment of the path identifies the row of the table. */
function endpointOf({ endpoint: { path, method = 'GET', ...rest } }: Row, place: number, port: number): PackageEndpoint {
    const base = `http://${siteOf(place)}:${port}/${nameOf(place)}`;
    const steps = stepsOf(rest.prepare).map((step) => ({ ...step, url: `${base}${step.url}` }));
    return { ...rest, ...(steps.length === 0 ? {} : { prepare: steps }), name: nameOf(place), method, url: `${base}${path}` };
}

/** A site's response for a row, with the row's path segment in place of `row_PLACE`. */
function placed({ headers = {}, body, ...rest }: SiteAnswer, path: string): SiteAnswer {
    const fill = (text: string) => text.replaceAll('row_PLACE', path.split('/')[1] ?? '');
    const filled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
    return { ...rest, headers: filled, ...(body === undefined ? {} : { body: typeof body === 'string' ? fill(body) : body }) };
}

function siteOf(place: number): string {
    return SITES[Math.floor(place / PER_SITE)] ?? '';
}

function nameOf(place: number): string {
    return `row_${place}`;
}

function rowOf(path: string): Row | undefined {
    return ROWS[Number(/^\/row_(\d+)/.exec(path)?.[1])];
}

function toSend(answer: SiteAnswer, path: string): { status: number; headers: Record<string, string>; bytes: string | Uint8Array } {
    const { status = 200, headers = {}, body = {} } = placed(answer, path);
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    if (isRaw || headers['content-length'] !== undefined) return { status, headers: { ...headers }, bytes: isRaw ? body : '' };
    return { status, headers: { 'content-type': 'application/json', ...headers }, bytes: JSON.stringify(body) };
}
