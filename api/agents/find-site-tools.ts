import { LRUCache } from 'lru-cache';
import { runnable, type SiteTool, type ToolChoice } from '../../shared/agents/site-tools.ts';
import type { AgentTool } from '../../shared/agents/tool.ts';
import type { App } from '../../shared/app.ts';
import { readSite, siteBlocked, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { invalidFields, Refusal } from '../../shared/refusals.ts';
import { mayRun, type VersionRef } from '../../shared/store/registry/history.ts';
import { readPackageText } from '../../shared/store/registry/versions.ts';
import { endpointHealth } from '../../shared/store/usage/traffic.ts';
import { KeyedQueue, type QueueTurn } from '../admission/keyed-queue.ts';
import { perApp } from '../admission/per-app.ts';
import { workOnPackage } from '../packages/work.ts';

/** How long tool lists are cached. The endpoint health by which they are ordered changes slowly. */
const KEPT_MS = 60_000;
const listsOf = perApp(() => new LRUCache<string, AgentTool[]>({ max: 200, ttl: KEPT_MS }));

/** Lists that a process builds at a time, one for each client: anybody may ask for many different lists of a package of 4 MiB. */
const BUILT_AT_ONCE = 2;
const PATIENCE_MS = 20_000;
const buildsOf = perApp(() => new KeyedQueue({ atOnce: BUILT_AT_ONCE, patienceMs: PATIENCE_MS }));

interface Asker {
    client: string;
    gone: AbortSignal;
}

/**
 * Returns the endpoints of a site's latest version as tools.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_NOT_FOUND, VALIDATION_ERROR for unknown endpoint names
 */
export async function findSiteTools(
    app: App,
    written: string,
    choice: ToolChoice,
    { client, gone }: Asker,
): Promise<{ site: string; tools: AgentTool[] }> {
    const { site, registrable } = readSite(written, '/site');
    const { isBlocked, version } = await app.latest.find({ site, registrable });
    if (isBlocked) throw siteBlocked();
    if (version === undefined || !mayRun(version)) throw siteNotFound(site);
    const loaded = await app.versions.load(version.versionId);
    if (loaded === undefined) throw siteNotFound(site);
    const unknown = choice.names?.filter((name) => !loaded.endpoints.has(name)) ?? [];
    if (unknown.length > 0) {
        const details = unknown.map((name) => ({
            path: '/endpoints',
            code: 'INVALID_VALUE' as const,
            message: `${site} has no endpoint ${name.slice(0, 64)}`,
        }));
        throw invalidFields(details);
    }
    const lists = listsOf(app);
    const key = JSON.stringify([version.versionId, choice.names?.toSorted(), choice.effect]);
    const build = async () => {
        const known = lists.get(key);
        if (known !== undefined) return known;
        const shown = await describeTools(app, { site, version }, choice);
        const tools = shown.map((tool) => runnable(tool, { site, version: version.version }));
        lists.set(key, tools);
        return tools;
    };
    const turn: QueueTurn = { keys: [client], gone, full: () => new Refusal('OVERLOADED', undefined, { retryAfter: 5 }) };
    return { site, tools: lists.get(key) ?? (await buildsOf(app).run(turn, build)) };
}

async function describeTools(
    { browse }: App,
    { site, version }: { site: string; version: VersionRef },
    choice: ToolChoice,
): Promise<SiteTool[]> {
    const [text, health] = await Promise.all([readPackageText(browse, version.versionId), endpointHealth(browse, site)]);
    if (text === undefined) throw siteNotFound(site);
    const task = { text, site, version: version.version, choice, health };
    return (await workOnPackage('siteTools', String(version.versionId), task)).answer;
}
