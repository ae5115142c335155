import { readFileSync } from 'node:fs';
import { type OAuthClients, readOAuthClients } from '../domain/connections/oauth-clients.ts';
import type { EmbeddingsSettings } from './embedder.ts';
import { isSentinelUrl, parseSentinelUrl } from './sentinel-url.ts';
import type { SettingsReader } from './settings-reader.ts';

/** The four STRIPE settings, and the address of a test server. */
export interface StripeSettings {
    secretKey: string;
    webhookSecret: string;
    priceStarter: string;
    pricePro: string;
    apiBase: string | undefined;
}

const STRIPE_NAMES = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICE_STARTER', 'STRIPE_PRICE_PRO'] as const;

export function readStripe(read: SettingsReader): StripeSettings | undefined {
    const apiBase = read.url('STRIPE_API_BASE', ['http:', 'https:'], 'http://127.0.0.1:12111');
    const [secretKey, webhookSecret, priceStarter, pricePro] = STRIPE_NAMES.map((name) => read.value(name));
    if (secretKey && webhookSecret && priceStarter && pricePro) return { secretKey, webhookSecret, priceStarter, pricePro, apiBase };
    const missing = STRIPE_NAMES.filter((name) => read.value(name) === undefined);
    const [first] = missing;
    if (first === undefined || missing.length === STRIPE_NAMES.length) return undefined;
    const given = STRIPE_NAMES.filter((name) => !missing.includes(name)).join(', ');
    return read.report(`${missing.join(', ')}: missing beside ${given}; the four go together, all or none; for example ${first}=value`);
}

/** One Redis, or one for each role. It is a fault if only one role would be in PostgreSQL, because nobody wants that. */
export function readRedis(read: SettingsReader): Record<'redisUrl' | 'redisQueueUrl' | 'redisLimitsUrl', string | undefined> {
    const roles = ['REDIS_QUEUE_URL', 'REDIS_LIMITS_URL'] as const;
    const [alone, ...more] = roles.filter((name) => read.value(name) !== undefined);
    if (read.value('REDIS_URL') === undefined && alone !== undefined && more.length === 0) {
        const other = roles.find((name) => name !== alone);
        read.report(`${alone}: needs REDIS_URL, or ${other}, for the other role of Redis; for example REDIS_URL=redis://127.0.0.1:6379`);
    }
    return {
        redisUrl: readRedisUrl(read, 'REDIS_URL'),
        redisQueueUrl: readRedisUrl(read, 'REDIS_QUEUE_URL'),
        redisLimitsUrl: readRedisUrl(read, 'REDIS_LIMITS_URL'),
    };
}

function readRedisUrl(read: SettingsReader, name: string): string | undefined {
    const value = read.value(name);
    if (value === undefined || !isSentinelUrl(value)) {
        return read.url(name, ['redis:', 'rediss:', 'redis+sentinel:', 'rediss+sentinel:'], 'redis://127.0.0.1:6379');
    }
    if (parseSentinelUrl(value) !== undefined) return value;
    const problem = 'must be a URL of Sentinels separated by commas, and after a slash the name of their primary';
    return read.fault(name, problem, 'redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/routebook');
}

/** The model of OpenAI, whose API the server implements. */
const DEFAULT_MODEL = 'text-embedding-3-small';

/** A server with the OpenAI embeddings API, given by its base URL or by its embeddings route. */
export function readEmbeddings(read: SettingsReader): EmbeddingsSettings | undefined {
    const url = read.url('EMBEDDINGS_URL', ['http:', 'https:'], 'https://models.example/v1');
    const model = read.text('EMBEDDINGS_MODEL', /^[!-~]{1,200}$/, 'a name without spaces', DEFAULT_MODEL) ?? DEFAULT_MODEL;
    const key = read.text('EMBEDDINGS_KEY', /^[!-~]{1,1000}$/, 'visible ASCII without spaces', 'sk-local');
    const perMinute = read.integer('EMBEDDINGS_PER_MINUTE', { min: 0, max: 1_000_000, fallback: 600 });
    if (url === undefined) return undefined;
    const route = new URL(url);
    if (!route.pathname.endsWith('/embeddings')) route.pathname = `${route.pathname.replace(/\/+$/, '')}/embeddings`;
    return { url: route.href, key, model, perMinute };
}

/** Reads OAUTH_CLIENTS, a JSON file: site → `{client_id, client_secret}`. */
export function readOAuthClientsFile(read: SettingsReader): OAuthClients {
    const name = 'OAUTH_CLIENTS';
    const path = read.value(name);
    if (path === undefined) return new Map();
    const shape = '{"example.com": {"client_id": "…", "client_secret": "…"}}';
    try {
        const clients = readOAuthClients(JSON.parse(readFileSync(path, 'utf8')));
        if (clients !== undefined) return clients;
        read.fault(name, `must be a JSON file such as ${shape}, but ${path} is not`, 'oauth-clients.json');
    } catch {
        // The message of the JSON parser may repeat a secret.
        read.fault(name, `must be a readable JSON file, but ${path} is not`, 'oauth-clients.json');
    }
    return new Map();
}
