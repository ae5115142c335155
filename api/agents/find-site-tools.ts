import { LRUCache } from 'lru-cache';
import { runnable, type SiteTool, type ToolChoice } from '../../shared/agents/site-tools.ts';
import type { AgentTool } from '../../shared/agents/tool.ts';
import type { App } from '../../shared/app.ts';
import { readSite, siteBlocked, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { Refusal } from '../../shared/refusals.ts';
import { mayRun, type VersionRef } from '../../shared/store/registry/history.ts';
import { readPackageText } from '../../shared/store/registry/versions.ts';
import { endpointHealth } from '../../shared/store/usage/traffic.ts';
import { perApp } from '../admission/per-app.ts';
import { workOnPackage } from '../packages/work.ts';

/** How long tool lists are cached. The endpoint health by which they are ordered changes slowly. */
const KEPT_MS = 60_000;
const listsOf = perApp(() => new LRUCache<string, AgentTool[]>({ max: 200, ttl: KEPT_MS }));

/**
 * Returns the endpoints of a site's latest version as tools.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_NOT_FOUND, VALIDATION_ERROR for unknown endpoint names
 */
export async function findSiteTools(app: App, written: string, choice: ToolChoice): Promise<{ site: string; tools: AgentTool[] }> {
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
        throw new Refusal('VALIDATION_ERROR', undefined, { details });
    }
    const lists = listsOf(app);
    const key = JSON.stringify([version.versionId, choice.names?.toSorted(), choice.effect]);
    let tools = lists.get(key);
    if (tools === undefined) {
        const shown = await describeTools(app, { site, version }, choice);
        tools = shown.map((tool) => runnable(tool, { site, version: version.version }));
        lists.set(key, tools);
    }
    return { site, tools };
}

/** @throws Refusal SITE_NOT_FOUND */
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
