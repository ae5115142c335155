import type { SecretKey } from '../domain/accounts/key-ring.ts';
import type { OAuthClients } from '../domain/connections/oauth-clients.ts';
import type { EgressAllowEntry } from '../domain/site/egress-allow.ts';
import type { NameList } from '../domain/site/name-list.ts';
import type { EmbeddingsSettings } from './embedder.ts';
import { shippedReserved } from './reserved-names.ts';
import { readEmbeddings, readOAuthClientsFile, readRedis, readStripe, type StripeSettings } from './service-settings.ts';
import { ConfigFault, type Env, SettingsReader } from './settings-reader.ts';

/** All settings, validated and frozen. Times are in milliseconds, prices in dollars. */
export interface Config {
    port: number;
    host: string | undefined;
    /** Without a trailing slash. `undefined`: `http://localhost:<port>` once the port is known. */
    publicUrl: string | undefined;
    databaseUrl: string | undefined;
    /** A replica of the database, for lists, search, find and trends. */
    databaseReplicaUrl: string | undefined;
    /** Redis for the queue and limits, unless one of the two following settings overrides it; undefined: PostgreSQL holds both. */
    redisUrl: string | undefined;
    /** Redis for the queue: jobs and their replies. */
    redisQueueUrl: string | undefined;
    /** Redis for the limits: rate-limit windows, leases and the registry of workers. */
    redisLimitsUrl: string | undefined;
    /** Maximum number of concurrent upstream calls of one worker. */
    workerConcurrency: number;
    /** Maximum share of a worker's slots that jobs may take. */
    workerJobShare: number;
    /** Number of days for which params and results of jobs are stored after their end. */
    resultsKeepDays: number;
    metricsPort: number | undefined;
    fetchTimeoutMs: number;
    shutdownGraceMs: number;
    egressAllow: readonly EgressAllowEntry[];
    /** Fixed DNS answers: host name to addresses. They are checked like any other DNS answer. */
    egressHosts: ReadonlyMap<string, readonly string[]>;
    egressProxyUrl: string | undefined;
    /** Name servers for proofs of claims, as `address:port`; empty: the name servers of the system. */
    claimResolvers: readonly string[];
    trustProxy: number;
    /** Maximum number of open connections, and of new connections per second, of one client address; 0: no limit. */
    clientConnections: number;
    clientConnectionsPerSecond: number;
    /** The first key encrypts, all keys decrypt; empty: the database contains the keys. */
    secretKeys: readonly SecretKey[];
    dataDir: string;
    demo: boolean;
    /** Whether starter packages are verified daily. */
    starterVerify: boolean;
    /** Domains whose publishers need a proof or an operator: the built-in list with the changes of RESERVED_DOMAINS. */
    reservedDomains: NameList;
    /** OAuth clients that the operator registered, by site. */
    oauthClients: OAuthClients;
    /** The server for ranking by meaning in addition to words; undefined: ranking uses words only. */
    embeddings: EmbeddingsSettings | undefined;
    logLevel: string;
    cost: { perRequest: number; perSecond: number; perGb: number };
    metricsMaxSites: number;
    operatorEmails: readonly string[];
    /** The person or company that runs this service, for mails and pages. */
    operatorName: string | undefined;
    /** Markdown whose first line is the title; undefined: the built-in text. */
    legal: { terms: string | undefined; privacy: string | undefined };
    mail: { smtpUrl: string | undefined; from: string | undefined };
    /** The polling interval for mails of other processes, for retries and for news. */
    mailEveryMs: number;
    stripe: StripeSettings | undefined;
    otelEndpoint: string | undefined;
    // The following values are constants in production. Only tests use others.
    /** Timeout for the headers of a request, and again for its body (docs/api.md, "Requests and answers"). */
    arrivalMs: number;
    /** Number of browse requests per second that a process serves under any load. */
    browsedPerSecond: number;
    /** Number of requests without a valid key per second and client address. Further requests are delayed. */
    cheapPerSecond: number;
    /** Number of invalid keys per second that a process handles like any other call. */
    guessesPerSecond: number;
    /** Maximum number of open connections of one process. Further connections wait in the kernel. */
    maxConnections: number;
    /** Binary logarithm of the scrypt cost of new passwords. */
    passwordCost: number;
    /** Prefix of all keys in Redis. The braces put all keys in one slot of a cluster. */
    keyPrefix: string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Reads the settings of docs/operations.md. Nothing else reads the environment. @throws ConfigFault with a line for each invalid value */
export function readConfig(env: Env = process.env): Config {
    const read = new SettingsReader(env);
    const databaseUrl = read.database('DATABASE_URL', 'db.example');
    const trustProxy = read.integer('TRUST_PROXY', { min: 0, max: 16, fallback: 0 });
    const fetchTimeoutMs = read.integer('FETCH_TIMEOUT_MS', { min: 1000, max: 120_000, fallback: 30_000 });
    const config: Config = {
        port: read.integer('PORT', { min: 0, max: 65_535, fallback: 8080 }),
        host: read.host('HOST', '127.0.0.1'),
        publicUrl: read.publicUrl('PUBLIC_URL', 'https://routebook.example')?.replace(/(?<!\/)\/+$/, ''),
        databaseUrl,
        databaseReplicaUrl: read.replica('DATABASE_REPLICA_URL', 'DATABASE_URL'),
        ...readRedis(read),
        workerConcurrency: read.integer('WORKER_CONCURRENCY', { min: 1, max: 10_000, fallback: 128 }),
        workerJobShare: read.share('WORKER_JOB_SHARE', 0.8),
        resultsKeepDays: read.integer('RESULTS_KEEP_DAYS', { min: 1, max: 90, fallback: 7 }),
        metricsPort: read.optionalInteger('METRICS_PORT', { min: 0, max: 65_535, fallback: 9464 }),
        fetchTimeoutMs,
        shutdownGraceMs: read.integer('SHUTDOWN_GRACE_MS', { min: 0, max: 600_000, fallback: fetchTimeoutMs + 2000 }),
        ...egressSettings(read),
        trustProxy,
        // Behind a proxy, every connection comes from the proxy.
        clientConnections: read.integer('CLIENT_CONNECTIONS', { min: 0, max: 10_000, fallback: trustProxy > 0 ? 0 : 512 }),
        clientConnectionsPerSecond: read.integer('CLIENT_CONNECTIONS_PER_SECOND', {
            min: 0,
            max: 10_000,
            fallback: trustProxy > 0 ? 0 : 128,
        }),
        claimResolvers: read.addresses('CLAIM_RESOLVERS'),
        secretKeys: read.secretKeys('SECRET_KEYS'),
        dataDir: read.text('DATA_DIR', /\S/, 'a folder', '.data') ?? '.data',
        demo: read.flag('DEMO', databaseUrl === undefined),
        starterVerify: read.flag('STARTER_VERIFY', false),
        reservedDomains: read.names('RESERVED_DOMAINS', shippedReserved()),
        oauthClients: readOAuthClientsFile(read),
        embeddings: readEmbeddings(read),
        logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
        cost: {
            perRequest: read.amount('COST_PER_REQUEST'),
            perSecond: read.amount('COST_PER_SECOND'),
            perGb: read.amount('COST_PER_GB'),
        },
        metricsMaxSites: read.integer('METRICS_MAX_SITES', { min: 0, max: 100_000, fallback: 1000 }),
        operatorEmails: read.emails('OPERATOR_EMAILS'),
        operatorName: read.text('OPERATOR_NAME', /^[^\p{C}]{1,200}$/u, 'a name in one line', 'Example Ltd'),
        legal: { terms: read.markdown('TERMS_FILE'), privacy: read.markdown('PRIVACY_FILE') },
        mail: {
            smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:'], 'smtps://user:password@mail.example:465'),
            from: read.sender('MAIL_FROM', 'Routebook <hello@routebook.example>'),
        },
        stripe: readStripe(read),
        otelEndpoint: read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], 'http://collector.example:4318'),
        // Node checks ten times a second, so each connection is closed within 15 s.
        arrivalMs: 14_500,
        browsedPerSecond: 200,
        mailEveryMs: 5000,
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

export type EgressSettings = Pick<Config, 'egressAllow' | 'egressHosts' | 'egressProxyUrl'>;

/**
 * Reads only the settings of the egress guard. The command line uses it, because it calls sites like a worker.
 * @throws ConfigFault with one line for each invalid value.
 */
export function readEgressSettings(env: Env): EgressSettings {
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

/** Requires DATABASE_URL, for a process that does not start its own database. @throws ConfigFault if DATABASE_URL is not set. */
export function requireDatabase(config: Config): Config & { databaseUrl: string } {
    const { databaseUrl } = config;
    if (databaseUrl !== undefined) return { ...config, databaseUrl };
    throw new ConfigFault([
        'DATABASE_URL: is required here; for example DATABASE_URL=postgresql://user:password@db.example:5432/routebook',
    ]);
}
