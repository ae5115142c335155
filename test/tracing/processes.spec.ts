import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Collector, openCollector, outline } from '../support/collector.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Running, startProcess } from '../support/processes.ts';

/** Reports at the end of a process which modules of OpenTelemetry were loaded, and by which importer. */
const RECORDER = `import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
const asked = [];
registerHooks({
    resolve(specifier, context, next) {
        if (specifier.includes('@opentelemetry/')) asked.push('LOADS ' + specifier + ' for ' + context.parentURL);
        return next(specifier, context);
    },
});
process.on('exit', () => writeSync(2, asked.join('\\n') + '\\n'));`;

describe('the processes of Routebook', () => {
    let database: TestDatabase;
    let dataDir: string;
    const running: Running[] = [];

    before(async () => {
        database = await createTestDatabase();
        dataDir = await mkdtemp(join(tmpdir(), 'routebook-traces-'));
    });
    after(async () => {
        for (const one of running) await one.end('SIGKILL');
        await database.drop();
        await rm(dataDir, { recursive: true, force: true });
    });

    function start(name: 'api' | 'worker' | 'start', settings: Record<string, string> = {}): Running {
        const one = startProcess(name, {
            DATABASE_URL: database.url,
            DATA_DIR: dataDir,
            PORT: '0',
            HOST: '127.0.0.1',
            NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`,
            ...settings,
        });
        running.push(one);
        return one;
    }

    /** The loaded modules of OpenTelemetry, except those that prom-client loads. */
    const loaded = (one: Running) =>
        one
            .output()
            .split('\n')
            .filter((line) => line.startsWith('LOADS ') && !line.includes('/node_modules/prom-client/'));

    it('trace if one process runs everything, and export ended spans before they stop', async () => {
        const collector: Collector = await openCollector();
        const one = start('start', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, DEMO: 'true' });
        const base = /http:\/\/\S+/.exec(await one.said('routebook ready on'))?.[0];
        const key = (await one.said('demo API key: ')).replace('demo API key: ', '');
        const response = await fetch(`${base}/v1/fetch`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ site: 'demo-shop.example', endpoint: 'search_products', params: { q: 'shoes' } }),
        });
        expect(response.status, await response.text()).to.equal(200);
        expect(await one.end()).to.equal(0);
        const traceId = collector.spans().find(({ name }) => name === 'POST /v1/fetch')?.traceId;
        expect(outline(collector.spans().filter((span) => span.traceId === traceId))).to.deep.equal([
            'POST /v1/fetch in routebook',
            '  limits',
            '  hold',
            '  queue',
            '    job',
            '      upstream',
            '  charge',
        ]);
        expect(loaded(one).join('\n')).to.include('@opentelemetry/sdk-trace');
        await collector.close();
    });

    it('load nothing of OpenTelemetry without its setting', async () => {
        const api = start('api');
        const worker = start('worker');
        await api.said('routebook ready on');
        await worker.said('the worker takes jobs');
        expect(await api.end()).to.equal(0);
        expect(await worker.end()).to.equal(0);
        expect([...loaded(api), ...loaded(worker)]).to.deep.equal([]);
    });
});
