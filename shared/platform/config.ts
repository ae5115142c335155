import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseSecretKeys, type SecretKey } from '../domain/accounts/key-ring.ts';
import { type OAuthClients, readOAuthClients } from '../domain/connections/oauth-clients.ts';
import { type EgressAllowEntry, parseEgressAllow } from '../domain/site/egress-allow.ts';
import { joinNames, type NameList, readNames } from '../domain/site/name-list.ts';
import { isSentinelUrl, parseSentinelUrl } from './redis-url.ts';
import { shippedReserved } from './reserved-names.ts';

/** Everything that can be set from outside, checked and frozen. Amounts of time are milliseconds, prices dollars. */
export interface Config {
    port: number;
    host: string | undefined;
    /** Without a trailing slash; `undefined`: `http://localhost:<port>` once the port is known. */
    publicUrl: string | undefined;
    databaseUrl: string | undefined;
    /** A standby of it, for lists, search, find and trends. */
    databaseReplicaUrl: string | undefined;
    /** Where queue and limits are; undefined: in PostgreSQL. Both roles use it that have none of their own below. */
    redisUrl: string | undefined;
    /** Of jobs and their replies alone. */
    redisQueueUrl: string | undefined;
    /** Of windows, leases and the register of workers alone. */
    redisLimitsUrl: string | undefined;
    /** Upstream calls that one worker runs at once. */
    workerConcurrency: number;
    /** Share of a worker's slots that jobs take at most. */
    workerJobShare: number;
    /** Days that params and results of jobs are kept after their end. */
    resultsKeepDays: number;
    metricsPort: number | undefined;
    fetchTimeoutMs: number;
    shutdownGraceMs: number;
    egressAllow: readonly EgressAllowEntry[];
    /** Fixed DNS answers: host name to addresses; guarded like any other answer. */
    egressHosts: ReadonlyMap<string, readonly string[]>;
    egressProxyUrl: string | undefined;
    /** Name servers that claims are looked up at, as `address:port`; empty: those of the system. */
    claimResolvers: readonly string[];
    trustProxy: number;
    /** Connections that one client address may have open, and may open in a second; 0 is no bound. */
    clientConnections: number;
    clientConnectionsPerSecond: number;
    /** The first encrypts, all decrypt; empty: the ring is in the database. */
    secretKeys: readonly SecretKey[];
    dataDir: string;
    demo: boolean;
    /** Starter packages take part in the daily verification runs. */
    starterVerify: boolean;
    /** Domains on which nobody publishes without proof or an operator: the shipped list with the changes of RESERVED_DOMAINS. */
    reservedDomains: NameList;
    /** OAuth clients of the operator, by site. */
    oauthClients: OAuthClients;
    logLevel: string;
    cost: { perRequest: number; perSecond: number; perGb: number };
    metricsMaxSites: number;
    operatorEmails: readonly string[];
    /** Markdown whose first line is its title; undefined: what is shipped. */
    legal: { terms: string | undefined; privacy: string | undefined };
    mail: { smtpUrl: string | undefined; from: string | undefined };
    stripe: { secretKey: string; webhookSecret: string; priceStarter: string; pricePro: string; apiBase: string | undefined } | undefined;
    otelEndpoint: string | undefined;
    /** A request's headers, and then its body, have this long to arrive (docs/api.md, "Requests and answers"). No setting: only tests use another. */
    arrivalMs: number;
    /** Calls that browse which a process bears each second, however busy it is. No setting: only tests use another. */
    browsedPerSecond: number;
    /** Requests without a valid key that one client address may send a process each second; more are delayed. No setting: only tests use another. */
    cheapPerSecond: number;
    /** Wrong keys a second that a process judges as any other call. No setting: only tests use another. */
    guessesPerSecond: number;
    /** Open connections of one process; the kernel keeps those beyond it waiting. No setting: only tests use another. */
    maxConnections: number;
    /** Binary logarithm of scrypt's cost for new passwords. No setting: only tests use another. */
    passwordCost: number;
    /** Before every key in Redis; the braces keep all keys in one slot of a cluster. No setting: only tests use another. */
    keyPrefix: string;
}

/** One or more settings are wrong; each line names the setting, its fault and an example. */
export class ConfigFault extends Error {
    readonly lines: string[];

    constructor(lines: string[]) {
        super(lines.join('\n'));
        this.name = 'ConfigFault';
        this.lines = lines;
    }
}

type Env = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const STRIPE_NAMES = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICE_STARTER', 'STRIPE_PRICE_PRO'] as const;

/**
 * Reads the settings of docs/operations.md; the only reader of the environment.
 * @throws ConfigFault with a line for every wrong value at once.
 */
export function readConfig(env: Env = process.env): Config {
    const read = new SettingsReader(env);
    const databaseUrl = read.database('DATABASE_URL', 'db.example');
    const trustProxy = read.integer('TRUST_PROXY', { least: 0, most: 16, fallback: 0 });
    const fetchTimeoutMs = read.integer('FETCH_TIMEOUT_MS', { least: 1000, most: 120_000, fallback: 30_000 });
    const config: Config = {
        port: read.integer('PORT', { least: 0, most: 65_535, fallback: 8080 }),
        host: read.host('HOST', '127.0.0.1'),
        publicUrl: read.publicUrl('PUBLIC_URL', 'https://routebook.example')?.replace(/(?<!\/)\/+$/, ''),
        databaseUrl,
        databaseReplicaUrl: read.replica('DATABASE_REPLICA_URL', 'DATABASE_URL'),
        ...read.redis(),
        workerConcurrency: read.integer('WORKER_CONCURRENCY', { least: 1, most: 10_000, fallback: 128 }),
        workerJobShare: read.share('WORKER_JOB_SHARE', 0.8),
        resultsKeepDays: read.integer('RESULTS_KEEP_DAYS', { least: 1, most: 90, fallback: 7 }),
        metricsPort: read.optionalInteger('METRICS_PORT', { least: 0, most: 65_535, fallback: 9464 }),
        fetchTimeoutMs,
        shutdownGraceMs: read.integer('SHUTDOWN_GRACE_MS', { least: 0, most: 600_000, fallback: fetchTimeoutMs + 2000 }),
        ...egressSettings(read),
        trustProxy,
        // Behind a proxy every connection is the proxy's own.
        clientConnections: read.integer('CLIENT_CONNECTIONS', { least: 0, most: 10_000, fallback: trustProxy > 0 ? 0 : 512 }),
        clientConnectionsPerSecond: read.integer('CLIENT_CONNECTIONS_PER_SECOND', {
            least: 0,
            most: 10_000,
            fallback: trustProxy > 0 ? 0 : 128,
        }),
        claimResolvers: read.addresses('CLAIM_RESOLVERS'),
        secretKeys: read.secretKeys('SECRET_KEYS'),
        dataDir: read.text('DATA_DIR', /\S/, 'a folder', '.data') ?? '.data',
        demo: read.flag('DEMO', databaseUrl === undefined),
        starterVerify: read.flag('STARTER_VERIFY', false),
        reservedDomains: read.names('RESERVED_DOMAINS', shippedReserved()),
        oauthClients: read.oauthClients('OAUTH_CLIENTS'),
        logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
        cost: {
            perRequest: read.amount('COST_PER_REQUEST'),
            perSecond: read.amount('COST_PER_SECOND'),
            perGb: read.amount('COST_PER_GB'),
        },
        metricsMaxSites: read.integer('METRICS_MAX_SITES', { least: 0, most: 100_000, fallback: 1000 }),
        operatorEmails: read.emails('OPERATOR_EMAILS'),
        legal: { terms: read.markdown('TERMS_FILE'), privacy: read.markdown('PRIVACY_FILE') },
        mail: {
            smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:'], 'smtps://user:password@mail.example:465'),
            from: read.sender('MAIL_FROM', 'Routebook <hello@routebook.example>'),
        },
        stripe: read.stripe(),
        otelEndpoint: read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], 'http://collector.example:4318'),
        // Arrivals are looked at ten times a second, so that the last of them is cut within 15 s.
        arrivalMs: 14_500,
        browsedPerSecond: 200,
        cheapPerSecond: 2500,
        guessesPerSecond: 100,
        maxConnections: 10_000,
        // 32 MiB and 0.3 s of one core, with the rounds of shared/platform/passwords/passwords.ts.
        passwordCost: 15,
        keyPrefix: '{routebook}',
    };
    read.throwFaults();
    return Object.freeze(config);
}

/** What the guard between us and the sites is told. */
export type EgressSettings = Pick<Config, 'egressAllow' | 'egressHosts' | 'egressProxyUrl'>;

/**
 * The guard's settings alone, for the command line, which calls sites as a worker does.
 * @throws ConfigFault with a line for every wrong value at once.
 */
export function readEgressSettings(env: Env = process.env): EgressSettings {
    const read = new SettingsReader(env);
    const settings = egressSettings(read);
    read.throwFaults();
    return settings;
}

function egressSettings(read: SettingsReader): EgressSettings {
    return {
        egressAllow: read.egressAllow('EGRESS_ALLOW'),
        egressHosts: read.egressHosts('EGRESS_HOSTS'),
        egressProxyUrl: read.url('EGRESS_PROXY_URL', ['http:', 'https:'], 'http://proxy.example:3128'),
    };
}

/**
 * The same settings, for a process that starts no database of its own.
 * @throws ConfigFault where DATABASE_URL is not set.
 */
export function requireDatabase(config: Config): Config & { databaseUrl: string } {
    const { databaseUrl } = config;
    if (databaseUrl !== undefined) return { ...config, databaseUrl };
    throw new ConfigFault([
        'DATABASE_URL: is required here; for example DATABASE_URL=postgresql://user:password@db.example:5432/routebook',
    ]);
}

/** Reads settings and collects all faults, so that a person can fix them together. */
class SettingsReader {
    readonly #env: Env;
    readonly #faults: string[] = [];

    constructor(env: Env) {
        this.#env = env;
    }

    throwFaults(): void {
        if (this.#faults.length > 0) throw new ConfigFault(this.#faults);
    }

    /** An empty value counts as not set: that is how compose files and CI write "nothing". */
    #value(name: string): string | undefined {
        const value = this.#env[name]?.trim();
        return value === '' ? undefined : value;
    }

    #fault(name: string, problem: string, example: string): undefined {
        this.#faults.push(`${name}: ${problem}; for example ${name}=${example}`);
        return undefined;
    }

    integer(name: string, bounds: { least: number; most: number; fallback: number }): number {
        return this.optionalInteger(name, bounds) ?? bounds.fallback;
    }

    optionalInteger(name: string, { least, most, fallback }: { least: number; most: number; fallback: number }): number | undefined {
        const value = this.#value(name);
        if (value === undefined) return undefined;
        const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
        if (number >= least && number <= most) return number;
        return this.#fault(name, `must be a whole number from ${least} to ${most}`, String(fallback));
    }

    amount(name: string): number {
        const value = this.#value(name);
        if (value === undefined) return 0;
        const number = /^\d{1,9}(\.\d{1,12})?$/.test(value) ? Number(value) : Number.NaN;
        return Number.isNaN(number) ? (this.#fault(name, 'must be dollars, a decimal number of 0 or more', '0.00002') ?? 0) : number;
    }

    /** @returns 0.1 to 1 */
    share(name: string, fallback: number): number {
        const value = this.#value(name);
        if (value === undefined) return fallback;
        const number = /^(0\.\d{1,6}|1(\.0{1,6})?)$/.test(value) ? Number(value) : Number.NaN;
        return number >= 0.1 ? number : (this.#fault(name, 'must be a share of 0.1 to 1', '0.8') ?? fallback);
    }

    flag(name: string, fallback: boolean): boolean {
        const value = this.#value(name);
        if (value === undefined) return fallback;
        if (value === 'true' || value === 'false') return value === 'true';
        return this.#fault(name, 'must be true or false', 'false') ?? fallback;
    }

    oneOf(name: string, allowed: readonly string[], fallback: string): string {
        const value = this.#value(name);
        if (value === undefined || allowed.includes(value)) return value ?? fallback;
        return this.#fault(name, `must be one of ${allowed.join(', ')}`, fallback) ?? fallback;
    }

    text(name: string, pattern: RegExp, what: string, example: string): string | undefined {
        const value = this.#value(name);
        if (value === undefined || pattern.test(value)) return value;
        return this.#fault(name, `must be ${what}`, example);
    }

    host(name: string, example: string): string | undefined {
        const value = this.#value(name);
        const isName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;
        // hapi takes no zones (`fe80::1%eth0`).
        if (value === undefined || isName.test(value) || (isIP(value) !== 0 && !value.includes('%'))) return value;
        return this.#fault(name, 'must be a host name or an address without brackets to listen on', example);
    }

    /**
     * The message never repeats the value: URLs of databases carry passwords.
     * @param options.mayLackHost a unix socket's URL has none (`postgresql://user@/name?host=/dir`)
     */
    url(name: string, protocols: readonly string[], example: string, { mayLackHost = false } = {}): string | undefined {
        const value = this.#value(name);
        if (value === undefined) return undefined;
        const beginnings = protocols.map((protocol) => `${protocol}//`);
        if (!beginnings.some((beginning) => value.toLowerCase().startsWith(beginning))) {
            return this.#fault(name, `must be a URL that begins with ${beginnings.join(' or ')}`, example);
        }
        // The parser takes the first word behind any number of slashes for a host, and none where a user stands before it.
        const whole = mayLackHost ? value.replace(/^([a-z]+:\/\/[^/?#]*@|[a-z]+:\/\/)(?=[/?]|$)/i, '$1socket') : value;
        if (/^[a-z]+:\/\/[^/\\?#]/i.test(whole) && URL.canParse(whole)) return value;
        return this.#fault(name, 'must be a URL with a host, and a port up to 65535 if any', example);
    }

    database(name: string, host: string): string | undefined {
        const example = `postgresql://user:password@${host}:5432/routebook`;
        return this.url(name, ['postgres:', 'postgresql:'], example, { mayLackHost: true });
    }

    replica(name: string, primary: string): string | undefined {
        const url = this.database(name, 'replica.example');
        if (url === undefined || this.#value(primary) !== undefined) return url;
        this.#faults.push(
            `${name}: needs ${primary}, which it is a replica of; for example ${primary}=postgresql://user:password@db.example:5432/routebook`,
        );
        return undefined;
    }

    /** One Redis, or one for each role. A role without any would be in PostgreSQL beside the other, which nobody means. */
    redis(): Pick<Config, 'redisUrl' | 'redisQueueUrl' | 'redisLimitsUrl'> {
        const roles = ['REDIS_QUEUE_URL', 'REDIS_LIMITS_URL'] as const;
        const [alone, ...more] = roles.filter((name) => this.#value(name) !== undefined);
        const other = roles.find((name) => name !== alone);
        if (this.#value('REDIS_URL') === undefined && alone !== undefined && more.length === 0) {
            const example = 'REDIS_URL=redis://127.0.0.1:6379';
            this.#faults.push(`${alone}: needs REDIS_URL, or ${other}, for the other role of Redis; for example ${example}`);
        }
        return {
            redisUrl: this.#redisUrl('REDIS_URL'),
            redisQueueUrl: this.#redisUrl('REDIS_QUEUE_URL'),
            redisLimitsUrl: this.#redisUrl('REDIS_LIMITS_URL'),
        };
    }

    #redisUrl(name: string): string | undefined {
        const value = this.#value(name);
        if (value === undefined || !isSentinelUrl(value)) {
            return this.url(name, ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'], 'redis://127.0.0.1:6379');
        }
        if (parseSentinelUrl(value) !== undefined) return value;
        const problem = 'must be a URL of Sentinels, with commas between, and behind a slash the name of their primary';
        return this.#fault(name, problem, 'redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/routebook');
    }

    /** Paths are put behind it, so that nothing may stand behind its own path. */
    publicUrl(name: string, example: string): string | undefined {
        const value = this.url(name, ['http:', 'https:'], example);
        if (value === undefined || /^[a-z]+:\/\/[^\s/\\?#@]+(\/[^\s\\?#]*)?$/i.test(value)) return value;
        return this.#fault(name, 'must be a URL without user, query, fragment and spaces', example);
    }

    /** A mail address, alone or in angle brackets behind a name. */
    sender(name: string, example: string): string | undefined {
        const value = this.#value(name);
        const address = value === undefined ? undefined : (/^[^<>]*<([^<>]*)>$/.exec(value)?.[1] ?? value);
        // Also at a machine without a dot in its name, as mail within one house has it.
        if (address === undefined || /^[^\s@<>,]+@[^\s@<>,]+$/.test(address)) return value;
        return this.#fault(name, 'must be a mail address, alone or in angle brackets behind a name', example);
    }

    emails(name: string): string[] {
        const list = (this.#value(name) ?? '')
            .split(',')
            .map((email) => email.trim().toLowerCase())
            .filter(Boolean);
        if (list.every((email) => /^[^@\s]+@[^@\s]+$/.test(email))) return list;
        return this.#fault(name, 'must be mail addresses with commas between', 'ops@routebook.example') ?? [];
    }

    addresses(name: string): string[] {
        const list = (this.#value(name) ?? '')
            .split(',')
            .map((entry) => entry.trim())
            .filter(Boolean);
        const isRight = (entry: string) => {
            const [, six = '', four = '', port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry) ?? [];
            return (isIP(six) === 6 || isIP(four) === 4) && Number(port) >= 1 && Number(port) <= 65_535;
        };
        if (list.every(isRight)) return list;
        return this.#fault(name, 'must be address:port pairs with commas between', '192.0.2.53:53,[2001:db8::53]:53') ?? [];
    }

    egressAllow(name: string): readonly EgressAllowEntry[] {
        const value = this.#value(name);
        if (value === undefined) return [];
        const parsed = parseEgressAllow(value);
        return parsed.ok ? parsed.entries : (this.#fault(name, parsed.problem, '127.0.0.0/8:3000,[::1]/128:3000') ?? []);
    }

    secretKeys(name: string): readonly SecretKey[] {
        const value = this.#value(name);
        if (value === undefined) return [];
        const parsed = parseSecretKeys(value);
        // No example: people copy it, and a key that stands in our texts is none.
        if (!parsed.ok) this.#faults.push(`${name}: ${parsed.problem}; make one with: openssl rand -base64 32`);
        return parsed.ok ? parsed.keys : [];
    }

    egressHosts(name: string): ReadonlyMap<string, readonly string[]> {
        const hosts = new Map<string, string[]>();
        for (const entry of (this.#value(name) ?? '').split(',')) {
            if (entry.trim() === '') continue;
            const [host, address, ...more] = entry.split('=').map((part) => part.trim().toLowerCase());
            const bare = address?.replace(/^\[(.*)\]$/, '$1');
            if (!host || !bare || more.length > 0 || isIP(bare) === 0 || !/^[a-z0-9.-]+$/.test(host)) {
                this.#fault(name, 'must be name=address pairs with commas between', 'shop.example=127.0.0.1');
                continue;
            }
            const bareHost = host.replace(/\.$/, '');
            hosts.set(bareHost, [...(hosts.get(bareHost) ?? []), bare]);
        }
        return hosts;
    }

    /** The text of a file of Markdown. */
    markdown(name: string): string | undefined {
        const text = this.#file(name, 'legal/terms.md')?.text;
        if (text === undefined || /^# \S/.test(text)) return text;
        return this.#fault(name, 'must be Markdown whose first line is its title (`# Terms of service`)', 'legal/terms.md');
    }

    #file(name: string, example: string): { path: string; text: string } | undefined {
        const path = this.#value(name);
        if (path === undefined) return undefined;
        try {
            return { path, text: readFileSync(path, 'utf8') };
        } catch {
            return this.#fault(name, `must be a file that can be read, which ${path} is not`, example);
        }
    }

    /** A file of names that changes a shipped list. */
    names(name: string, shipped: NameList): NameList {
        const file = this.#file(name, 'shared/data/reserved-domains.txt');
        if (file === undefined) return shipped;
        const { path, text } = file;
        const read = readNames(text);
        if (read.ok) return joinNames(shipped, read.list);
        this.#fault(name, `line ${read.line} of ${path} ${read.problem}`, 'shared/data/reserved-domains.txt');
        return shipped;
    }

    /** A JSON file: site → `{client_id, client_secret}`. */
    oauthClients(name: string): OAuthClients {
        const path = this.#value(name);
        if (path === undefined) return new Map();
        const shape = '{"example.com": {"client_id": "…", "client_secret": "…"}}';
        try {
            const read = readOAuthClients(JSON.parse(readFileSync(path, 'utf8')));
            if (read !== undefined) return read;
            this.#fault(name, `must be a file of JSON such as ${shape}, which ${path} is not`, 'oauth-clients.json');
        } catch {
            // The message of a parser may repeat a secret.
            this.#fault(name, `must be a file of JSON that can be read, which ${path} is not`, 'oauth-clients.json');
        }
        return new Map();
    }

    stripe(): Config['stripe'] {
        const apiBase = this.url('STRIPE_API_BASE', ['http:', 'https:'], 'http://127.0.0.1:12111');
        const [secretKey, webhookSecret, priceStarter, pricePro] = STRIPE_NAMES.map((name) => this.#value(name));
        if (secretKey && webhookSecret && priceStarter && pricePro) return { secretKey, webhookSecret, priceStarter, pricePro, apiBase };
        const missing = STRIPE_NAMES.filter((name) => this.#value(name) === undefined);
        if (missing.length < STRIPE_NAMES.length) {
            for (const name of missing) this.#fault(name, 'is missing; the four STRIPE settings go together, all or none', 'value');
        }
        return undefined;
    }
}
