import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { COMMON_REFUSALS } from '../../shared/contracts/contract.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { REFUSALS, refusalEntry } from '../../shared/refusals.ts';
import { checkEnvelope } from '../support/answers.ts';
import { eventually } from '../support/eventually.ts';
import { lintOpenApi } from '../support/lint-openapi.ts';
import { stranger } from '../support/people.ts';
import { sendRaw } from '../support/raw.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { useWorld } from '../support/world.ts';

const TREE: Readonly<Record<string, string>> = {
    commerce: 'product-detail, product-search, reviews, pricing, deals',
    travel: 'flights, hotels, listings, routes, activities',
    jobs: 'job-search, job-detail, companies, salaries',
    social: 'profiles, posts, search, comments',
    media: 'articles, video, audio, images, feeds',
    reference: 'encyclopedia, dictionary, geo, papers, statistics',
    food: 'recipes, restaurants, menus, delivery, nutrition',
    finance: 'quotes, rates, crypto, companies, filings',
    'real-estate': 'listings, detail, prices, agents',
    communication: 'mail, messaging, forums, calls',
    productivity: 'tasks, documents, calendars, forms',
    knowledge: 'questions, courses, books, wikis',
    developer: 'packages, repositories, issues, docs, status',
    sports: 'scores, schedules, standings, players',
    government: 'records, laws, services, open-data, elections',
    health: 'providers, conditions, drugs, trials',
    education: 'schools, courses, grades, scholarships',
    events: 'search, detail, tickets, venues',
    weather: 'current, forecast, history, alerts',
    automotive: 'listings, specs, parts, charging',
};

/** Codes by status, as the documents list them. */
const CODES: Readonly<Record<number, string>> = {
    400: 'INVALID_JSON VALIDATION_ERROR INVALID_CURSOR INTENT_REQUIRED INTENT_TOO_SHORT INTENT_TOO_FEW_WORDS INVALID_DOMAIN INVALID_PARAMS INVALID_IDEMPOTENCY_KEY',
    401: 'API_KEY_REQUIRED INVALID_API_KEY',
    402: 'INSUFFICIENT_CREDITS',
    403: 'NOT_MAINTAINER CLAIM_REQUIRED EMAIL_NOT_VERIFIED SITE_BLOCKED FORBIDDEN SPENDING_LIMIT PLAN_LIMIT',
    404: 'NOT_FOUND SITE_NOT_FOUND ENDPOINT_NOT_FOUND VERSION_NOT_FOUND REQUEST_NOT_FOUND JOB_NOT_FOUND BATCH_NOT_FOUND MONITOR_NOT_FOUND CLAIM_NOT_FOUND CONNECTION_NOT_FOUND WEBHOOK_NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    408: 'REQUEST_TIMEOUT',
    409: 'IDEMPOTENCY_CONFLICT IDEMPOTENCY_IN_PROGRESS VERSION_CONFLICT JOB_NOT_CANCELLABLE BATCH_NOT_OPEN LAST_MAINTAINER',
    413: 'PAYLOAD_TOO_LARGE',
    415: 'UNSUPPORTED_MEDIA_TYPE',
    422: 'SCHEMA_INVALID ENDPOINT_NOT_HOSTED CONNECTION_REQUIRED CONNECTION_REJECTED',
    429: 'RATE_LIMITED CONCURRENCY_LIMITED SITE_BUSY',
    500: 'INTERNAL',
    502: 'UPSTREAM_STATUS UPSTREAM_UNAUTHORIZED UPSTREAM_UNREACHABLE UPSTREAM_BLOCKED UPSTREAM_INVALID_RESPONSE UPSTREAM_TOO_LARGE UPSTREAM_REDIRECT EGRESS_DENIED OUTCOME_UNKNOWN',
    503: 'OVERLOADED SITE_UNAVAILABLE UPSTREAM_RATE_LIMITED SERVICE_UNAVAILABLE',
    504: 'UPSTREAM_TIMEOUT DEADLINE_EXCEEDED',
};

const FAULTS: Readonly<Record<string, string>> = {
    service: 'SITE_BUSY SITE_BLOCKED OUTCOME_UNKNOWN INTERNAL OVERLOADED SERVICE_UNAVAILABLE DEADLINE_EXCEEDED',
    upstream:
        'UPSTREAM_STATUS UPSTREAM_UNREACHABLE UPSTREAM_BLOCKED UPSTREAM_TOO_LARGE UPSTREAM_REDIRECT UPSTREAM_RATE_LIMITED SITE_UNAVAILABLE UPSTREAM_TIMEOUT',
    schema: 'UPSTREAM_INVALID_RESPONSE EGRESS_DENIED',
};
const RETRYABLE =
    'REQUEST_TIMEOUT RATE_LIMITED CONCURRENCY_LIMITED SITE_BUSY OVERLOADED SITE_UNAVAILABLE SERVICE_UNAVAILABLE IDEMPOTENCY_IN_PROGRESS DEADLINE_EXCEEDED';
const RETRYABLE_READS = 'UPSTREAM_UNREACHABLE UPSTREAM_TIMEOUT UPSTREAM_STATUS UPSTREAM_RATE_LIMITED';

interface Document {
    openapi: string;
    info: { version: string };
    servers: { url: string }[];
    paths: Record<
        string,
        Record<
            string,
            { operationId: string; description?: string; responses: Record<string, { content?: Record<string, { schema: object }> }> }
        >
    >;
    components: { schemas: { Error: object } };
}

describe('a newcomer', () => {
    const world = useWorld({ workers: 0 });

    const get = (path: string) => stranger(world).call('GET', path);

    it('finds the categories exactly as documented, with a path for each leaf', async () => {
        const tree = dataOf<{ slug: string; name: string; children: { slug: string; name: string; path: string }[] }[]>(
            await get('/v1/categories'),
        );
        expect(Object.fromEntries(tree.map(({ slug, children }) => [slug, children.map((child) => child.slug).join(', ')]))).to.deep.equal(
            TREE,
        );
        for (const { slug, children } of tree) for (const child of children) expect(child.path).to.equal(`${slug}/${child.slug}`);
    });

    it('finds every error code with its status, who must act and whether to retry', async () => {
        const table = dataOf<{ code: string; status: number; fault: string; retryable: unknown; meaning: string }[]>(
            await get('/v1/errors'),
        );
        const byStatus = Map.groupBy(table, ({ status }) => status);
        expect(
            Object.fromEntries([...byStatus].map(([status, entries]) => [status, entries.map(({ code }) => code).join(' ')])),
        ).to.deep.equal(CODES);
        const faultOf = (code: string) => Object.keys(FAULTS).find((fault) => FAULTS[fault]?.split(' ').includes(code)) ?? 'caller';
        for (const { code, fault, retryable, meaning } of table) {
            expect(fault, code).to.equal(faultOf(code));
            expect(retryable, code).to.equal(
                RETRYABLE.split(' ').includes(code) ? true : RETRYABLE_READS.split(' ').includes(code) ? 'reads' : false,
            );
            expect(meaning, code).to.match(/^[A-Z].*\.$/);
        }
        expect(table.map(({ code }) => code)).to.deep.equal([...REFUSALS.keys()]);
    });

    it('finds a page at the doc_url of every error', async () => {
        const refused = await get('/v1/account');
        const { doc_url: url } = refused.body['error'] as { doc_url: string };
        const page = await stranger(world).call('GET', new URL(url).pathname);
        expect(page.status).to.equal(200);
        for (const code of REFUSALS.keys()) expect(page.body['text']).to.include(`id="${code}"`);
    });

    describe('in the OpenAPI document', () => {
        let document: Document;

        before(async () => {
            document = (await get('/v1/openapi.json')).body as unknown as Document;
        });

        it('finds every route with exactly the statuses and codes that it can give', () => {
            expect(document).to.include({ openapi: '3.1.0' });
            expect(document.info.version).to.equal('dev');
            expect(document.servers).to.deep.equal([{ url: world.app.publicUrl() }]);
            const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
                Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
            );
            expect(listed).to.have.members(CONTRACTS.map(({ method, path }) => `${method} ${path}`));
            for (const contract of CONTRACTS) {
                const operation = document.paths[contract.path]?.[contract.method.toLowerCase()];
                expect(operation?.operationId).to.equal(contract.name);
                const statuses = new Set([
                    contract.answer.status,
                    ...(contract.answer.alsoStatus ?? []),
                    ...[...COMMON_REFUSALS, ...contract.refusals].map((code) => refusalEntry(code).status),
                ]);
                expect(Object.keys(operation?.responses ?? {}).map(Number), contract.name).to.include.members([...statuses]);
            }
        });

        it('finds the limits of a package before writing one', () => {
            const said = document.paths['/v1/schemas']?.['post']?.description;
            for (const bound of [
                '500 endpoints',
                '2,000 params',
                '150,000 values',
                'A title has at most 200 characters, a description 10,000',
                '20 examples, 50 headers',
                '1,000 values in an enum',
                '500 different patterns',
            ])
                expect(said).to.include(bound);
        });

        it('finds schemas that compile and that responses match', async () => {
            const ajv = new Ajv2020({ strict: false });
            ajv.addSchema(document, 'doc');
            for (const path of ['/v1/categories', '/v1/errors', '/v1/health']) {
                const answer = await get(path);
                const pointer = `doc#/paths/${path.replaceAll('/', '~1')}/get/responses/${answer.status}/content/application~1json/schema`;
                const validate = ajv.compile({ $ref: pointer });
                expect(validate(answer.body), `${path}: ${JSON.stringify(validate.errors)}`).to.equal(true);
            }
            for (const [path, methods] of Object.entries(document.paths)) {
                for (const [method, { responses }] of Object.entries(methods)) {
                    for (const [status, { content }] of Object.entries(responses)) {
                        const schema = content?.['application/json']?.schema;
                        if (schema !== undefined)
                            expect(
                                () => ajv.compile({ ...schema, components: document.components }),
                                `${method} ${path} ${status}`,
                            ).not.to.throw();
                    }
                }
            }
        });

        it('finds a document that an external tool accepts as OpenAPI 3.1', async () => {
            expect(await lintOpenApi({ routebook: document })).to.deep.equal([]);
        });
    });

    describe('for pages and probes', () => {
        it('finds the page that tells a site’s owner who calls, and how to opt out', async () => {
            const page = await get('/abuse');
            expect(page.headers.get('content-type')).to.include('text/html');
            expect(page.body['text'])
                .to.match(/Routebook/)
                .and.match(/allow all calls, some or none/)
                .and.match(/href="\/docs\/owners"/);
        });

        it('finds /livez and /readyz without workers, and the metrics only from this machine', async () => {
            expect((await get('/livez')).status).to.equal(200);
            expect((await get('/readyz')).status).to.equal(200);
            expect((await get('/metrics')).body['text']).to.include('routebook_http_requests_total');
            const headers = [
                'Via',
                'Forwarded',
                'X-Real-IP',
                'X-Forwarded-For',
                'X-Forwarded-Host',
                'X-Forwarded-Proto',
                'X-Forwarded-Port',
            ];
            for (const header of headers) {
                const refused = await stranger(world).call('GET', '/metrics', { headers: { [header]: '192.0.2.1' } });
                expect(codeOf(refused), header).to.equal('NOT_FOUND');
                checkEnvelope('/metrics', refused);
            }
        });

        it('finds the metrics under a name of this machine only, whatever other names resolve to it', async () => {
            const askBy = (host: string) => sendRaw(world.base, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
            for (const host of ['localhost', 'LocalHost:8080', '127.0.0.1:8080', '127.1.2.3', '[::1]', '[::1]:8080']) {
                expect((await askBy(host))?.status, host).to.equal(200);
            }
            for (const host of ['evil.example', 'localhost.evil.example:8080', '127.0.0.1.evil.example', '192.0.2.1', '[2001:db8::1]']) {
                expect((await askBy(host))?.status, host).to.equal(404);
            }
        });

        it('adds no series to the metrics for each method that it invents', async () => {
            const methodsOf = async (route: string) => {
                const text = await world.app.metrics.registry.getSingleMetricAsString('routebook_http_requests_total');
                const lines = text.split('\n').filter((line) => line.includes(`route="${route}"`));
                return lines.map((line) => /method="([^"]*)"/.exec(line)?.[1]).filter((method) => method !== 'GET');
            };
            for (const method of ['PROPFIND', 'MKCALENDAR', 'REPORT']) {
                expect((await fetch(`${world.base}/docs/errors`, { method })).status, method).to.equal(405);
            }
            await eventually(
                () => methodsOf('/docs/errors'),
                (methods) => methods.join() === 'other',
            );
        });

        it('cannot read the metrics from pages of other origins', async () => {
            for (const method of ['GET', 'OPTIONS']) {
                const { headers } = await stranger(world).call(method, '/metrics', { headers: { origin: 'https://evil.example' } });
                expect(headers.get('access-control-allow-origin'), method).to.equal(null);
            }
        });
    });
});
