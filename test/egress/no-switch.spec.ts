import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readConfig } from '../../shared/platform/config.ts';
import { createConnector, EgressDenied } from '../../workers/egress.ts';
import { createUpstream } from '../../workers/upstream.ts';
import { openSite, requestTo, type Site } from '../support/sites.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Variables that disable such checks in other software, and our settings whose names resemble that. */
const SWITCHES: Readonly<Record<string, string>> = {
    NODE_ENV: 'development',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_EXTRA_CA_CERTS: '/dev/null',
    NODE_USE_ENV_PROXY: '1',
    NODE_DEBUG: 'net,http,tls',
    DEBUG: '*',
    DEMO: 'true',
    CI: 'true',
    LOG_LEVEL: 'trace',
    TRUST_PROXY: '16',
    ALLOW_PRIVATE: 'true',
    EGRESS_GUARD: 'off',
    EGRESS_DISABLE: '1',
    DISABLE_EGRESS_GUARD: 'true',
    INSECURE: '1',
};

describe('the guard on egress', () => {
    let forbidden: Site;
    const usual: Record<string, string | undefined> = {};

    before(async () => {
        forbidden = await openSite((_request, response) => response.end('{"secret":true}'));
        const proxy = `http://127.0.0.1:${forbidden.port}`;
        const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'GLOBAL_AGENT_HTTP_PROXY'];
        for (const [name, value] of Object.entries({ ...SWITCHES, ...Object.fromEntries(proxies.map((name) => [name, proxy])) })) {
            usual[name] = process.env[name];
            process.env[name] = value;
        }
    });
    after(async () => {
        for (const [name, value] of Object.entries(usual)) {
            if (value === undefined) delete process.env[name];
            else process.env[name] = value;
        }
        await forbidden.close();
    });

    it('is not disabled by any setting or variable, whatever its name', async () => {
        const config = readConfig({ ...process.env, DATABASE_URL: 'postgresql://nobody@127.0.0.1/none' });
        const rules = { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: config.egressProxyUrl };
        expect(rules).to.deep.equal({ allow: [], hosts: new Map(), proxyUrl: undefined });
        for (const host of ['127.0.0.1', '::1', 'localhost', '169.254.169.254']) {
            const dial = createConnector(rules).connect({ host, port: forbidden.port, scheme: 'http' });
            const refusal = await dial.then(
                () => 'connected',
                (error: unknown) => error,
            );
            expect(refusal, host).to.be.instanceOf(EgressDenied);
        }
        const upstream = createUpstream({ rules: { ...rules, hosts: new Map([['shop.test', ['127.0.0.1']]]) } });
        for (const url of [`http://shop.test:${forbidden.port}/`, 'https://shop.test/']) {
            const options = { site: 'shop.test', registrable: 'shop.test', effect: 'read', deadlineAt: Date.now() + 3000 } as const;
            const answer = await upstream.send(requestTo(url), options);
            expect(!answer.ok && answer.code, url).to.equal('EGRESS_DENIED');
        }
        upstream.close();
        expect(forbidden.connections()).to.equal(0);
    });

    describe('has one connector in the product:', () => {
        // The guard itself, an operator's name servers, and the pipe to a child of the worker.
        const DIALLING = /^workers\/(egress\/(connector|resolver|agent|addresses)|claims\/read-txt)\.ts$/;
        const product = ['api', 'bin', 'cli', 'shared', 'workers'].flatMap((folder) =>
            readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
                .filter((path) => path.endsWith('.ts'))
                .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(`${ROOT}/${folder}/${path}`, 'utf8') })),
        );
        const saying = (pattern: RegExp) => product.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

        it('nobody creates another one, or creates it with other options', () => {
            expect(saying(/implements EgressConnector|\bcreateConnector\b|: EgressConnector = \{/)).to.have.members([
                'workers/egress.ts',
                'workers/egress/connector.ts',
                // One for everything that a worker calls.
                'workers/worker.ts',
                // The command line, which calls sites alone.
                'workers/upstream.ts',
            ]);
            expect(saying(/createConnector\((?!rules\)|\n)/)).to.deep.equal([]);
        });

        it('only the worker passes one on, and only tests give it one', () => {
            const callers = product.filter(({ text }) => /(?<!function )\b(createUpstream|openWorker)\(/.test(text));
            const handing = callers.filter(({ text }) => /\bconnector\b/.test(text)).map(({ path }) => path);
            expect(handing).to.deep.equal(['workers/worker.ts']);
            expect(callers.map(({ path }) => path)).to.include.members(['bin/worker.ts', 'bin/start.ts']);
        });

        it('nothing else opens connections to sites', () => {
            const dialling = saying(/from 'node:(net|tls|http2|dns|dns\/promises|dgram)'/).filter((path) => path.startsWith('workers/'));
            const opening = dialling.filter((path) => !DIALLING.test(path));
            expect(opening).to.deep.equal([]);
        });
    });
});
