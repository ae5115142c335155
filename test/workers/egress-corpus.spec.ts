import { connect, isIP } from 'node:net';
import { expect } from 'chai';
import { createConnector, type EgressConnector, EgressDenied, type EgressRules } from '../../workers/egress.ts';
import { createUpstream, type Upstream } from '../../workers/upstream.ts';
import { loopbackRules, openSite, requestTo, type Site } from '../support/sites.ts';

/** A forbidden address on each family's loopback, everything that means it, and the rest of the non-public world. */
const BAD_ADDRESSES = [
    ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.0.0.1', '10.0.0.1', '10.255.255.255', '100.64.0.1'],
    ...['100.127.255.254', '169.254.169.254', '169.254.170.2', '168.63.129.16', '172.16.0.1', '172.31.255.254', '192.0.0.1', '192.0.0.192'],
    ...['192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.254', '198.18.0.1', '198.19.255.254', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ...['::ffff:169.254.169.254', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe'],
    ...['64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2001:0:7f00:1::1', '100::1', '2001:2::1', '2001:10::1', '2001:20::1'],
    ...['2001:db8::1', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'febf::1', 'fec0::1', 'ff02::1', 'ff0e::1'],
];

/** Hosts of URLs that a URL parser turns into 127.0.0.1, ::1 or another address of this machine. */
const HOST_FORMS = [
    ...['127.0.0.1', '127.1', '127.0.1', '0x7f.0.0.1', '0x7f000001', '0x7F.1', '2130706433', '017700000001', '0177.0.0.1', '0177.1'],
    ...['127.0.0.1.', '0', '0.0.0.0', '0x0', '127.000.000.001', '0x7f.0x0.0x0.0x1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::0001]', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '１２７.０.０.１'],
    ...[
        '①②⑦.⓪.⓪.①',
        '127。0。0。1',
        '127．0．0．1',
        '%31%32%37.0.0.1',
        '0x7f。1',
        'localhost',
        'LOCALHOST',
        'ｌocalhost',
        '169.254.169.254',
    ],
    ...[
        '0xa9fea9fe',
        '2852039166',
        '0251.0376.0251.0376',
        '[::ffff:169.254.169.254]',
        '[fd00:ec2::254]',
        '168.63.129.16',
        '10.0.0.1',
        '[fe80::1]',
    ],
];

type Red = 'reached' | 'dialled' | 'other code';

interface Form {
    name: string;
    /** What went wrong, `undefined` where the form was refused without a dial. */
    run(bench: Bench): Promise<Red | undefined>;
}

interface Bench {
    rules: EgressRules;
    connector: EgressConnector;
    upstream: Upstream;
    /** The good site's port; it answers `/go?to=<url>` with a redirect. */
    goodPort: number;
    forbidden: Site;
    /** Addresses that the connector was seen to dial. */
    dialled: string[];
    answers: Map<string, string[]>;
}

const FORMS: readonly Form[] = [
    ...BAD_ADDRESSES.map((address) => dnsForm(`a name that means ${address}`, [address])),
    ...BAD_ADDRESSES.filter((_address, index) => index % 3 === 0).flatMap((address) => [
        dnsForm(`a public address, then ${address}`, ['1.1.1.1', address]),
        dnsForm(`${address}, then a public address`, [address, '2606:4700:4700::1111']),
    ]),
    ...HOST_FORMS.map(dialForm),
    ...HOST_FORMS.map((host) => redirectForm(`http://${host}:{forbidden}/`, 'UPSTREAM_REDIRECT')),
    ...[
        '//127.0.0.1:{forbidden}/',
        '\\\\127.0.0.1:{forbidden}/',
        'http:\\\\127.0.0.1:{forbidden}\\',
        'http://shop.test@127.0.0.1:{forbidden}/',
        'http://shop.test:{good}@127.0.0.1:{forbidden}/',
        'http://127.0.0.1:{forbidden}#@shop.test/',
        'http://127.0.0.1:{forbidden}?.shop.test/',
        'http://127.0.0.1:{forbidden}\\@shop.test/',
        'ht\ttp://127.0.0.1:{forbidden}/',
        'http://shop.test.127.0.0.1:{forbidden}/',
        'http://shop.test%00.evil.test:{forbidden}/',
        'http://evil-shop.test:{forbidden}/',
        'gopher://127.0.0.1:{forbidden}/',
        'file:///etc/passwd',
        'unix:/tmp/socket:/',
        'data:text/plain,hello',
    ].map((to) => redirectForm(to, 'UPSTREAM_REDIRECT')),
    ...[
        'http://bad.shop.test:{good}/',
        'http://shop.test:{forbidden}/',
        'https://shop.test:{forbidden}/',
        'http://shop.test/',
        'ftp://shop.test/',
    ].map((to) => redirectForm(to, 'EGRESS_DENIED')),
    {
        name: 'a name that answers well once and badly when asked again',
        async run(bench) {
            let asked = 0;
            const hosts = new Map([['shop.test', ['127.0.0.1']]]);
            hosts.get = () => (++asked === 1 ? ['127.0.0.1'] : ['127.0.0.2']);
            const before = bench.dialled.length;
            const rules = { ...bench.rules, hosts };
            const upstream = createUpstream({
                rules,
                connector: bench.connector instanceof Naive ? new Naive(rules, bench.dialled) : createConnector(rules),
            });
            await upstream.send(requestTo(`http://shop.test:${bench.goodPort}/`), options('shop.test'));
            upstream.close();
            return asked === 1 && bench.dialled.length === before ? undefined : 'dialled';
        },
    },
];

/** The same hosts as a site that the registry was made to believe in: whatever stands in a package, the dial decides. */
function dnsForm(name: string, addresses: string[]): Form {
    return {
        name,
        async run(bench) {
            bench.answers.set('rebound.test', addresses);
            return watch(bench, 'EGRESS_DENIED', async () => {
                const answer = await bench.upstream.send(requestTo('https://rebound.test/'), options('rebound.test'));
                return answer.ok ? 'success' : answer.code;
            });
        },
    };
}

/** Straight to the connector, as if nothing had looked at the URL before. */
function dialForm(host: string): Form {
    return {
        name: `a dial to ${host}`,
        async run(bench) {
            const url = URL.parse(`http://${host}:${bench.forbidden.port}/`);
            if (url === null) return undefined;
            return watch(bench, 'EGRESS_DENIED', async () => {
                const bare = url.hostname.replace(/^\[(.*)\]$/, '$1');
                const dial = bench.connector.connect({ host: bare, port: bench.forbidden.port, scheme: 'http' });
                return dial.then(
                    (socket) => {
                        socket.destroy();
                        return 'success';
                    },
                    (error: unknown) => (error instanceof EgressDenied ? 'EGRESS_DENIED' : 'UPSTREAM_UNREACHABLE'),
                );
            });
        },
    };
}

function redirectForm(to: string, code: string): Form {
    return {
        name: `a redirect to ${to}`,
        async run(bench) {
            const location = to.replace('{forbidden}', String(bench.forbidden.port)).replace('{good}', String(bench.goodPort));
            return watch(bench, code, async () => {
                const url = `http://shop.test:${bench.goodPort}/go?to=${encodeURIComponent(location)}`;
                const answer = await bench.upstream.send(requestTo(url), options('shop.test'));
                return answer.ok ? 'success' : answer.code;
            });
        },
    };
}

async function watch({ forbidden, dialled }: Bench, code: string, act: () => Promise<string>): Promise<Red | undefined> {
    const connections = forbidden.connections();
    const dials = dialled.length;
    const got = await act();
    if (forbidden.connections() > connections) return 'reached';
    if (dialled.length > dials) return 'dialled';
    return got === code ? undefined : 'other code';
}

function options(registrable: string) {
    return { site: registrable, registrable, effect: 'read', deadlineAt: Date.now() + 1500 } as const;
}

/** What a worker would be without its guard: it dials whatever a name answers first. Nothing but loopback is really dialled. */
class Naive implements EgressConnector {
    readonly #rules: EgressRules;
    readonly #dialled: string[];

    constructor(rules: EgressRules, dialled: string[]) {
        this.#rules = rules;
        this.#dialled = dialled;
    }

    async connect({ host, port }: { host: string; port: number }): ReturnType<EgressConnector['connect']> {
        const address = isIP(host) === 0 ? (this.#rules.hosts.get(host)?.[0] ?? '127.0.0.1') : host;
        const isGood = address === '127.0.0.1' && (this.#rules.allow[0]?.port ?? 0) === port;
        if (!isGood) this.#dialled.push(address);
        if (!/^(127\.0\.0\.1|::1)$/.test(address)) throw new Error('not dialled in a test');
        const socket = connect(port, address);
        await new Promise((done, fail) => socket.once('connect', done).once('error', fail));
        return socket;
    }
}

describe('the egress corpus', () => {
    let good: Site;
    let forbidden: Site;
    let guarded: Bench;
    let unguarded: Bench;

    before(async () => {
        good = await openSite((request, response) => {
            const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
            if (to === null) return response.end('{}');
            // Written by hand: Node refuses some of these headers.
            response.socket?.end(`HTTP/1.1 302 Found\r\nLocation: ${to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        });
        forbidden = await openSite((_request, response) => response.end('{"secret":true}'));
        guarded = bench((rules) => createConnector(rules));
        unguarded = bench((rules, dialled) => new Naive(rules, dialled));
    });

    after(async () => {
        guarded.upstream.close();
        unguarded.upstream.close();
        await good.close();
        await forbidden.close();
    });

    function bench(make: (rules: EgressRules, dialled: string[]) => EgressConnector): Bench {
        const fixed = loopbackRules(`127.0.0.1:${good.port}`, { 'shop.test': '127.0.0.1', 'bad.shop.test': '127.0.0.2' });
        const answers = new Map([...fixed.hosts].map(([name, to]) => [name, [...to]]));
        const rules = { ...fixed, hosts: answers };
        const dialled: string[] = [];
        const connector = make(rules, dialled);
        return { rules, connector, upstream: createUpstream({ rules, connector }), goodPort: good.port, forbidden, dialled, answers };
    }

    for (const form of FORMS) it(`refuses ${form.name}`, async () => expect(await form.run(guarded)).to.equal(undefined));

    it('holds at least two hundred forms', () => expect(FORMS.length).to.be.at.least(200));

    it('never let anybody through to the forbidden listener', () => expect(forbidden.seen).to.have.length(0));

    it('would notice a worker without its guard: at least half of the corpus turns red', async () => {
        let red = 0;
        for (const form of FORMS) if ((await form.run(unguarded)) !== undefined) red++;
        expect(red).to.be.at.least(FORMS.length / 2);
    });

    it('follows a good redirect, so that refusing everything would not pass', async () => {
        const url = `http://shop.test:${good.port}/go?to=${encodeURIComponent('/fine')}`;
        expect((await guarded.upstream.send(requestTo(url), options('shop.test'))).ok).to.equal(true);
    });
});
