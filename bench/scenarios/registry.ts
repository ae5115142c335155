import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { migrate } from '../../shared/migrate.ts';
import { runLoad } from '../load/load.ts';
import { figuresOf as timesOf } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { freePort, type Started, startNode, untilReady } from '../stack/processes.ts';
import { endpoint, fillRegistry, type MadeSite, numbers } from '../stack/registry.ts';
import { figuresOf, times } from './fetches.ts';
import type { Bench, Round, Scenario } from './scenario.ts';

/** An API with its own database. */
export interface OwnApi {
    base: string;
    apiKey: string;
    api: Started;
}

interface Registry extends OwnApi {
    sites: MadeSite[];
}

const SIZES = { '1k': 1000, '100k': 100_000 } as const;
type Size = keyof typeof SIZES;
const SIZE_NAMES = Object.keys(SIZES) as Size[];
type Ask = (made: MadeSite, draw: (below: number) => number) => string;

const opened = new Map<Size, Registry>();
let folder = '';

/** P7 and P8: look-ups, cards, searches and publishing among 1,000 and 100,000 sites, alternating. */
export const REGISTRY: Round = {
    name: 'registry',
    scenarios: [
        ...scenariosOf('look_up', 500, ({ site }) => `/v1/catalog/${site}?intent=${INTENT}`),
        ...scenariosOf('card', 500, ({ site }) => `/v1/schemas/${site}`),
        ...scenariosOf('search', 200, searchFor),
        ...SIZE_NAMES.map((size) => ({ name: `publish_${size}`, run: (bench: Bench) => publish(bench, registryOf(size)) })),
    ],
    async open(bench) {
        folder = mkdtempSync(join(tmpdir(), 'routebook-bench-paths-'));
        for (const size of SIZE_NAMES) opened.set(size, await openRegistry(bench, size));
        return async () => {
            for (const { api } of opened.values()) await api.stop();
            rmSync(folder, { recursive: true, force: true });
        };
    },
};

const INTENT = encodeURIComponent('find the price of one product and what its reviews say');

/** Typical searches, as shares of 20 calls. */
const SEARCHES: readonly Ask[] = [
    ...often(5, ({ site }) => `q=${site.slice(0, 8)}`),
    ...often(3, ({ words }) => `q=${words[0]}`),
    ...often(3, ({ words }) => `q=${words[0]}+${words[1]?.slice(0, 4)}`),
    ...often(2, ({ site }, draw) => `q=${misspell(site.slice(0, 9), draw)}`),
    ...often(1, ({ words }) => `q=${words[2]}&verified=true`),
    ...often(1, ({ words }) => `q=${words[0]?.slice(0, 2)}`),
    () => 'limit=20',
    () => 'sort=recent&category=commerce',
    () => 'sort=recently_verified',
    () => 'category=travel/hotels',
    () => 'sort=name&verified=true&limit=50',
];

function often(count: number, one: Ask): Ask[] {
    return Array.from({ length: count }, () => one);
}

function searchFor(made: MadeSite, draw: (below: number) => number): string {
    return `/v1/schemas?${SEARCHES[draw(SEARCHES.length)]?.(made, draw)}`;
}

/** Swaps two adjacent letters. */
function misspell(text: string, draw: (below: number) => number): string {
    const place = 1 + draw(text.length - 2);
    return `${text.slice(0, place)}${text[place + 1]}${text[place]}${text.slice(place + 2)}`;
}

function scenariosOf(what: string, perSecond: number, pathOf: Ask): Scenario[] {
    return SIZE_NAMES.map((size) => ({
        name: `${what}_${size}`,
        run: (bench) => browse(bench, { what, size, perSecond, pathOf }),
    }));
}

/** Uniformly random sites, so that caches do not help with many sites. */
const PATHS = 20_000;

async function browse(
    bench: Bench,
    { what, size, perSecond, pathOf }: { what: string; size: Size; perSecond: number; pathOf: Ask },
): Promise<Figures> {
    const { sites, base, apiKey, api } = registryOf(size);
    const pathsFile = join(folder, `${what}_${size}`);
    const draw = numbers(++turns);
    const paths = Array.from({ length: PATHS }, () => pathOf(sites[draw(sites.length)] ?? { site: '', title: '', words: [] }, draw));
    writeFileSync(pathsFile, paths.join('\n'));
    const plan = {
        url: base,
        pathsFile,
        headers: { authorization: `Bearer ${apiKey}` },
        bodies: [],
        pace: { perSecond },
        ...times(bench, 5000),
    };
    const { postgres, redis } = bench.stack;
    return figuresOf(await runLoad(plan, { api, redis, postgres: { pid: postgres.pid, children: true } }));
}

let turns = 0;

/** Publishes packages of 100 endpoints, each a new version. */
export async function publish(bench: Bench, { base, apiKey }: OwnApi): Promise<Figures> {
    const count = bench.isQuick ? 5 : 60;
    const taken: number[] = [];
    for (let index = 0; index < count + 5; index++) {
        const body = JSON.stringify(aPackage(`Shop ${++turns}`));
        const began = performance.now();
        const response = await fetch(`${base}/v1/schemas`, {
            method: 'POST',
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
            body,
        });
        if (response.status !== 201) throw new Error(`publishing failed: ${response.status} ${await response.text()}`);
        await response.text();
        if (index >= 5) taken.push(performance.now() - began);
    }
    const { p50, p90, p99, max } = timesOf(taken, 0, 1);
    return { p50_ms: p50, p90_ms: p90, p99_ms: p99, max_ms: max };
}

function aPackage(title: string): PackageDocument {
    const site = 'published.test';
    return {
        format: 'routebook/1',
        site,
        title,
        description: 'A hundred endpoints.',
        intent_category: 'commerce/product-search',
        endpoints: Array.from({ length: 100 }, (_, index) => endpoint(site, index)),
    };
}

function registryOf(size: Size): Registry {
    const registry = opened.get(size);
    if (registry === undefined) throw new Error(`the registry of ${size} is not open`);
    return registry;
}

async function openRegistry(bench: Bench, size: Size): Promise<Registry> {
    const url = await bench.stack.postgres.createDatabase(`registry_${size}`);
    await migrate(url);
    const sites = await fillRegistry(url, bench.isQuick ? SIZES[size] / 20 : SIZES[size]);
    return { sites, ...(await openApi(bench, url)) };
}

/** Starts an API with a database and an account without limits. */
export async function openApi({ stack }: Bench, url: string, more: Readonly<Record<string, string>> = {}): Promise<OwnApi> {
    const port = String(await freePort());
    const settings = { ...stack.settings.production, ...more, DATABASE_URL: url, PORT: port };
    const many = '1000000000';
    const limits = ['per-minute', 'per-hour', 'per-day'].flatMap((name) => [`--${name}`, many]);
    const account = startNode(
        'bin/admin.ts',
        ['account', 'create', '--email', 'bench@bench.example', '--plan', 'enterprise', ...limits, '--json'],
        settings,
    );
    const { api_key: apiKey } = JSON.parse(await account.line('api_key')) as { api_key: string };
    const api = startNode('bin/api.ts', [], settings);
    const base = `http://127.0.0.1:${port}`;
    await untilReady(`${base}/readyz`);
    return { base, apiKey, api };
}
