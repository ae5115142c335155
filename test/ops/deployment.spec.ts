import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { BATCH_BODIES } from '../../shared/domain/jobs/bounds.ts';
import { readConfig } from '../../shared/platform/config.ts';

const OPS = fileURLToPath(new URL('../../ops', import.meta.url));
const SETTINGS = ['config.ts', 'service-settings.ts']
    .map((name) => readFileSync(fileURLToPath(new URL(`../../shared/platform/${name}`, import.meta.url)), 'utf8'))
    .join('\n');

const file = (name: string) => readFileSync(`${OPS}/${name}`, 'utf8');

/** Reads like config.ts: an unknown name is a typing mistake in the manifest. */
function checkSettings(settings: Record<string, string>): void {
    for (const name of Object.keys(settings)) expect(SETTINGS, `a setting called ${name}`).to.include(`'${name}'`);
    expect(() => readConfig(settings)).to.not.throw();
}

/** The words of a package.json command, which limit its memory. The place of compiled code depends on the deployment. */
function wordsOf(command: 'api' | 'worker'): string[] {
    const { scripts } = JSON.parse(file('../package.json')) as { scripts: Record<string, string> };
    return (scripts[command] ?? '').split(' ').filter((word) => word !== 'exec' && !word.startsWith('NODE_COMPILE_CACHE='));
}

const API = ['env', ...wordsOf('api')];
const WORKER = ['env', ...wordsOf('worker')];

interface Probe {
    httpGet: { path: string; port: string };
}

/** Addresses where secrets of a cloud or of this cluster can be read. */
const INNER = [
    ...['169.254.169.254', '168.63.129.16', '10.1.2.3', '172.20.0.1', '192.168.1.1', '100.100.100.200', '127.0.0.1'],
    ...['fd00:ec2::254', 'fe80::1', '::1', '64:ff9b::a9fe:a9fe'],
];

interface Container {
    image: string;
    securityContext?: object;
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
        template?: {
            spec: {
                terminationGracePeriodSeconds?: number;
                automountServiceAccountToken?: boolean;
                securityContext?: object;
                containers: Container[];
            };
        };
        policyTypes?: string[];
        egress?: { to?: { ipBlock?: { cidr: string; except?: string[] } }[] }[];
        ingress?: object[];
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

    it('set known settings, to valid values', () => checkSettings(settings));

    it('run every container without privileges, without a token of the cluster, and on a read-only file system', () => {
        const specs = manifests.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.spec]));
        expect(specs).to.have.length(3);
        for (const { automountServiceAccountToken, securityContext, containers } of specs) {
            expect(automountServiceAccountToken).to.equal(false);
            expect(securityContext).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
            for (const { image, securityContext: own } of containers) {
                expect(own).to.deep.equal({
                    allowPrivilegeEscalation: false,
                    readOnlyRootFilesystem: true,
                    capabilities: { drop: ['ALL'] },
                });
                expect(image).to.match(/@sha256:[0-9a-f]{64}$/);
            }
        }
    });

    it('let workers and APIs reach no inner address and no metadata service, except for their own stores', () => {
        for (const name of ['routebook-worker', 'routebook-api']) {
            const { policyTypes, egress = [] } = named('NetworkPolicy', name).spec ?? {};
            expect(policyTypes, name).to.deep.equal(['Ingress', 'Egress']);
            const inside = new BlockList();
            const outside = new BlockList();
            for (const { ipBlock } of egress.flatMap(({ to = [] }) => to)) {
                if (ipBlock === undefined) continue;
                const add = (list: BlockList, cidr: string) => {
                    const [address = '', bits] = cidr.split('/');
                    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
                };
                add(outside, ipBlock.cidr);
                for (const cidr of ipBlock.except ?? []) add(inside, cidr);
            }
            const isOpen = (address: string) => {
                const family = address.includes(':') ? 'ipv6' : 'ipv4';
                return outside.check(address, family) && !inside.check(address, family);
            };
            for (const address of ['1.1.1.1', '2606:4700::1111']) expect(isOpen(address), `${name} to ${address}`).to.equal(true);
            for (const address of INNER) expect(isOpen(address), `${name} to ${address}`).to.equal(false);
        }
    });

    it('make stores reachable from Routebook only, and without outbound traffic', () => {
        for (const name of ['routebook-postgres', 'routebook-redis']) {
            const { policyTypes, egress = [], ingress = [] } = named('NetworkPolicy', name).spec ?? {};
            expect([policyTypes, egress.length, ingress.length], name).to.deep.equal([['Ingress', 'Egress'], 0, 1]);
        }
    });

    it('run existing commands', () => {
        for (const { spec } of manifests) {
            for (const { command } of spec?.template?.spec.containers ?? []) {
                expect(() => file(`../${command.at(-1)}`), command.join(' ')).to.not.throw();
            }
        }
    });

    it('limit the memory of API and worker like their commands', () => {
        const [api, worker] = pods.map(({ pod }) => pod?.containers[0]?.command);
        expect(api).to.deep.equal(API);
        expect(worker).to.deep.equal(WORKER);
    });

    it('probe ports that the processes listen on, at existing paths', () => {
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

    it('give every process the time to finish its work', () => {
        for (const { name, pod } of pods) {
            const drainMs = (pod?.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0) * 1000;
            const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1000;
            expect(graceMs, name).to.be.at.least(drainMs + Number(settings['SHUTDOWN_GRACE_MS']) + 2000);
        }
    });

    it('limit the connections of one client if Routebook itself does not', () => {
        const { clientConnections, clientConnectionsPerSecond } = readConfig({});
        expect(Number(settings['TRUST_PROXY'])).to.be.above(0);
        const { annotations = {} } = named('Ingress', 'routebook-api').metadata;
        expect(annotations['nginx.ingress.kubernetes.io/limit-connections']).to.equal(`${clientConnections}`);
        expect(annotations['nginx.ingress.kubernetes.io/limit-rps']).to.equal(`${clientConnectionsPerSecond}`);
        const nginx = file('nginx/routebook.conf');
        expect(nginx).to.include(`limit_conn routebook_connections ${clientConnections};`);
        expect(nginx).to.include(`rate=${clientConnectionsPerSecond}r/s`);
    });

    it('let the largest batch through', () => {
        const { annotations = {} } = named('Ingress', 'routebook-api').metadata;
        const ofIngress = annotations['nginx.ingress.kubernetes.io/proxy-body-size'];
        const [, ofNginx] = /client_max_body_size (\d+m);/.exec(file('nginx/routebook.conf')) ?? [];
        for (const size of [ofIngress, ofNginx]) expect(Number.parseInt(size ?? '', 10) * 2 ** 20).to.be.above(BATCH_BODIES.lines.bytes);
    });

    it('add workers by the number of waiting jobs for each slot', () => {
        const [trigger] = named('ScaledObject', 'routebook-worker').spec?.triggers ?? [];
        const { query = '' } = trigger?.metadata ?? {};
        expect(query).to.include('routebook_queue_jobs').and.include('routebook_worker_slots');
        // Jobs run in slots that the gauge of busy slots does not count. Jobs that wait for credits, limits or a site need no worker.
        const states = [...query.matchAll(/routebook_open_jobs\{state="(\w+)"\}/g)].map(([, state]) => state);
        expect([...new Set(states)]).to.have.members(['running', 'worker']);
        expect(Number(trigger?.metadata.threshold)).to.be.below(Number(settings['WORKER_CONCURRENCY']));
    });
});

describe('the compose file', () => {
    interface Service {
        command?: string[];
        environment?: Record<string, string>;
        stop_grace_period?: string;
        healthcheck?: { test: string[] };
        read_only?: boolean;
        cap_drop?: string[];
        security_opt?: string[];
        networks?: string[];
    }
    const { services, networks: all } = parse(file('docker/compose.yaml'), { merge: true }) as {
        services: Record<string, Service>;
        networks: Record<string, object | null>;
    };
    const ours = ['migrate', 'api', 'worker'].map((name) => services[name] ?? {});

    it('sets known settings, to valid values', () => {
        for (const { environment = {} } of ours) {
            const filled = Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+(?::-([^}]*))?[^}]*\}/g, '$1')]);
            checkSettings(Object.fromEntries(filled));
        }
    });

    it('runs our containers and Redis without privileges, on a read-only file system', () => {
        for (const service of [...ours, services['redis'] ?? {}]) {
            expect(service.read_only).to.equal(true);
            expect(service.cap_drop).to.deep.equal(['ALL']);
            expect(service.security_opt).to.deep.equal(['no-new-privileges:true']);
        }
    });

    it('lets the worker reach only the stores, which have no outbound traffic and need a password', () => {
        const networks = (name: string) => services[name]?.networks ?? [];
        expect(networks('worker')).to.deep.equal(['sites', 'stores']);
        expect(networks('api')).not.to.include('sites');
        for (const name of ['postgres', 'redis', 'migrate']) expect(networks(name), name).to.deep.equal(['stores']);
        expect(all['stores']).to.deep.equal({ internal: true });
        expect(services['redis']?.command?.join(' ')).to.include('--requirepass');
        expect(services['api']?.environment?.['REDIS_URL']).to.match(/^redis:\/\/:\$\{REDIS_PASSWORD:\?/);
        expect(services['api']?.environment).to.include.keys('SECRET_KEYS');
    });

    it('runs existing commands, probes existing paths, and waits for its dependencies', () => {
        for (const { command = [], healthcheck, stop_grace_period } of ours) {
            expect(() => file(`../${command.at(-1)}`)).to.not.throw();
            if (healthcheck !== undefined) expect(healthcheck.test.at(-1)).to.match(/127\.0\.0\.1:(8080\/readyz|9464\/readyz)'/);
            expect(Number.parseInt(stop_grace_period ?? '0', 10) * 1000).to.be.above(readConfig({}).shutdownGraceMs);
        }
    });

    it('limits the memory of API and worker like their commands', () => {
        expect(services['api']?.command).to.deep.equal(API);
        expect(services['worker']?.command).to.deep.equal(WORKER);
    });

    it('makes Redis refuse writes rather than evict', () => {
        expect(services['redis']?.command?.join(' ')).to.include('--maxmemory-policy noeviction').and.include('--appendonly yes');
    });
});
