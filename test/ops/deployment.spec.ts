import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../shared/config.ts';

const OPS = fileURLToPath(new URL('../../ops', import.meta.url));
const SETTINGS = readFileSync(fileURLToPath(new URL('../../shared/config.ts', import.meta.url)), 'utf8');

const file = (name: string) => readFileSync(`${OPS}/${name}`, 'utf8');

/** Reads as config.ts reads them: a name it does not know is a typing mistake in the manifest. */
function checkSettings(settings: Record<string, string>): void {
    for (const name of Object.keys(settings)) expect(SETTINGS, `a setting called ${name}`).to.include(`'${name}'`);
    expect(() => readConfig(settings)).to.not.throw();
}

/** The words of a command of package.json, which bound its memory; where it keeps compiled code is a matter of the place it runs at. */
function wordsOf(command: 'api' | 'worker'): string[] {
    const { scripts } = JSON.parse(file('../package.json')) as { scripts: Record<string, string> };
    return (scripts[command] ?? '').split(' ').filter((word) => word !== 'exec' && !word.startsWith('NODE_COMPILE_CACHE='));
}

const API = ['env', ...wordsOf('api')];
const WORKER = ['env', ...wordsOf('worker')];

interface Probe {
    httpGet: { path: string; port: string };
}

interface Container {
    command: string[];
    ports?: { name: string; containerPort: number }[];
    lifecycle?: { preStop: { sleep: { seconds: number } } };
    startupProbe?: Probe;
    livenessProbe?: Probe;
    readinessProbe?: Probe;
}

interface Manifest {
    kind: string;
    metadata: { name: string; annotations?: Record<string, string> };
    data?: Record<string, string>;
    spec?: {
        template?: { spec: { terminationGracePeriodSeconds?: number; containers: Container[] } };
        triggers?: { metadata: { query: string; threshold: string } }[];
    };
}

describe('the Kubernetes manifests', () => {
    const text = file('kubernetes/routebook.yaml');
    const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    const named = (kind: string, name: string) => {
        const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
        if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
        return found;
    };
    const settings = named('ConfigMap', 'routebook').data ?? {};
    const pods = ['routebook-api', 'routebook-worker'].map((name) => ({ name, pod: named('Deployment', name).spec?.template?.spec }));

    it('say at their head that they were not run on a cluster', () => {
        expect(text.split('\n')[0]).to.match(/^# Not run on a cluster/);
    });

    it('set what can be set, to values that start', () => checkSettings(settings));

    it('run commands that exist', () => {
        for (const { spec } of manifests) {
            for (const { command } of spec?.template?.spec.containers ?? []) {
                expect(() => file(`../${command.at(-1)}`), command.join(' ')).to.not.throw();
            }
        }
    });

    it('bound the memory of API and worker as their commands do', () => {
        const [api, worker] = pods.map(({ pod }) => pod?.containers[0]?.command);
        expect(api).to.deep.equal(API);
        expect(worker).to.deep.equal(WORKER);
    });

    it('ask ports that the processes listen on, at paths that exist', () => {
        const listening: Record<string, number> = { http: readConfig({}).port, metrics: Number(settings['METRICS_PORT']) };
        const paths: Record<string, string[]> = { http: ['/livez', '/readyz'], metrics: ['/livez', '/readyz', '/metrics'] };
        for (const { pod } of pods) {
            for (const { ports = [], startupProbe, livenessProbe, readinessProbe } of pod?.containers ?? []) {
                for (const port of ports) expect(listening[port.name]).to.equal(port.containerPort);
                for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
                    if (probe !== undefined) expect(paths[probe.httpGet.port]).to.include(probe.httpGet.path);
                }
            }
        }
    });

    it('give every process the time to end what it began', () => {
        for (const { name, pod } of pods) {
            const drainMs = (pod?.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0) * 1000;
            const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1000;
            expect(graceMs, name).to.be.at.least(drainMs + Number(settings['SHUTDOWN_GRACE_MS']) + 2000);
        }
    });

    it('bound the connections of one client where Routebook itself does not', () => {
        const { clientConnections, clientConnectionsPerSecond } = readConfig({});
        expect(Number(settings['TRUST_PROXY'])).to.be.above(0);
        const { annotations = {} } = named('Ingress', 'routebook-api').metadata;
        expect(annotations['nginx.ingress.kubernetes.io/limit-connections']).to.equal(`${clientConnections}`);
        expect(annotations['nginx.ingress.kubernetes.io/limit-rps']).to.equal(`${clientConnectionsPerSecond}`);
        const nginx = file('nginx/routebook.conf');
        expect(nginx).to.include(`limit_conn routebook_connections ${clientConnections};`);
        expect(nginx).to.include(`rate=${clientConnectionsPerSecond}r/s`);
    });

    it('add workers by what waits for each slot', () => {
        const [trigger] = named('ScaledObject', 'routebook-worker').spec?.triggers ?? [];
        expect(trigger?.metadata.query).to.include('routebook_queue_jobs').and.include('routebook_worker_slots');
        expect(Number(trigger?.metadata.threshold)).to.be.below(Number(settings['WORKER_CONCURRENCY']));
    });
});

describe('the compose file', () => {
    interface Service {
        command?: string[];
        environment?: Record<string, string>;
        stop_grace_period?: string;
        healthcheck?: { test: string[] };
    }
    const { services } = parse(file('docker/compose.yaml'), { merge: true }) as { services: Record<string, Service> };
    const ours = ['migrate', 'api', 'worker'].map((name) => services[name] ?? {});

    it('sets what can be set, to values that start', () => {
        for (const { environment = {} } of ours) {
            const filled = Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+(?::-([^}]*))?[^}]*\}/g, '$1')]);
            checkSettings(Object.fromEntries(filled));
        }
    });

    it('runs commands that exist, asks paths that exist, and waits for what runs', () => {
        for (const { command = [], healthcheck, stop_grace_period } of ours) {
            expect(() => file(`../${command.at(-1)}`)).to.not.throw();
            if (healthcheck !== undefined) expect(healthcheck.test.at(-1)).to.match(/127\.0\.0\.1:(8080\/readyz|9464\/readyz)'/);
            expect(Number.parseInt(stop_grace_period ?? '0', 10) * 1000).to.be.above(readConfig({}).shutdownGraceMs);
        }
    });

    it('bounds the memory of API and worker as their commands do', () => {
        expect(services['api']?.command).to.deep.equal(API);
        expect(services['worker']?.command).to.deep.equal(WORKER);
    });

    it('lets Redis refuse rather than forget', () => {
        expect(services['redis']?.command?.join(' ')).to.include('--maxmemory-policy noeviction').and.include('--appendonly yes');
    });
});
