import { createInliner, type Inliner } from '../domain/json/schema/inline.ts';
import { schemaOfParams } from '../domain/package/param-schema.ts';
import { clip } from '../domain/text/clip.ts';
import { estimateTokens } from '../domain/text/token-estimate.ts';
import type { Effect, Endpoint, JsonObject } from '../domain/types.ts';
import { type AgentTool, READS, WRITES } from './tool.ts';

/** The parts of a site's version from which its tools are built. */
interface ToolSite {
    site: string;
    version: number;
    /** The hosted endpoints, best first. */
    endpoints: readonly Endpoint[];
}

const MAX_TOOLS = 100;
/** Maximum size of a tool list as JSON, in tokens of o200k_base. */
const LIST_TOKENS = 10_000;
/** Bytes per token in English, the language with the fewest tokens. A list with more bytes than the limit allows is not tokenized. */
const MAX_TOKEN = 4;
const SHORT_DESCRIPTION = 160;

export type SiteTool = Pick<AgentTool, 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;

/**
 * Creates a tool for each endpoint. A list that is too long first loses output schemas, then long descriptions, then its last tools. The
 * schemas of a small package may expand to megabytes, so call this in a thread.
 */
export function siteTools(site: ToolSite): SiteTool[] {
    const inliner = createInliner();
    let left = LIST_TOKENS;
    const whole = site.endpoints.slice(0, MAX_TOOLS).map((endpoint) => {
        // Schemas that are too large for any list are not inlined. A package may have 4 MiB of them.
        if (left <= 0) return plainTool(site, endpoint);
        const tool = toTool(site, endpoint, inliner);
        left -= tokensOf([tool]);
        return tool;
    });
    if (tokensOf(whole) <= LIST_TOKENS) return whole;
    const withoutOutput = whole.map(({ outputSchema: _, ...tool }) => tool);
    if (tokensOf(withoutOutput) <= LIST_TOKENS) return withoutOutput;
    const short = withoutOutput.map(shortenDescription);
    let size = 0;
    return short.filter((tool) => {
        const tokens = tokensOf([tool]);
        if (size + tokens > LIST_TOKENS) return false;
        size += tokens;
        return true;
    });
}

function toTool(site: ToolSite, endpoint: Endpoint, inliner: Inliner): SiteTool {
    const { schema } = endpoint.response;
    const data = typeof schema === 'object' && schema !== null ? inliner.inline(schema) : undefined;
    return {
        ...plainTool(site, endpoint),
        inputSchema: { ...schemaOfParams(endpoint.params, endpoint.bodyFormat, inliner), type: 'object' },
        // Only object results keep the package's schema, since lists are wrapped.
        outputSchema: {
            type: 'object',
            properties: { ...(data?.['type'] === 'object' ? { data } : {}), meta: { type: 'object' } } as JsonObject,
        },
    };
}

/** A tool that accepts any object as params. */
function plainTool({ site }: ToolSite, { name, description, effect }: Endpoint): SiteTool {
    return {
        name,
        description: `${description.trim() || `${name.replaceAll('_', ' ')}.`}${effect === 'write' ? ` Changes something on ${site}.` : ''}`,
        inputSchema: { type: 'object' },
        annotations: effect === 'read' ? { ...READS, openWorldHint: true } : { ...WRITES, openWorldHint: true },
    };
}

/** Adds the implementation of a tool: a fetch of its endpoint. */
export function runnable(tool: SiteTool, { site, version }: Pick<ToolSite, 'site' | 'version'>): AgentTool {
    return {
        ...tool,
        needsKey: true,
        // Only the API route compiles schemas of contributors, because it limits the work.
        isCheckedByRoute: true,
        async run(params, ask) {
            // Pins the version, so that a new publication cannot turn a read into a write.
            const body = { site, endpoint: tool.name, params, version };
            const { data, meta } = await ask({ method: 'POST', path: '/v1/fetch', body, isRepeatable: false });
            // No tool of a site accepts a cursor, and one costs as much as a page of results.
            const { next_cursor: _, ...shown } = meta as Record<string, unknown>;
            return { data, meta: shown };
        },
    };
}

function shortenDescription(tool: SiteTool): SiteTool {
    const properties = (tool.inputSchema['properties'] ?? {}) as Record<string, JsonObject>;
    const named = Object.entries(properties).map(([name, { description: _d, examples: _e, ...schema }]) => [name, schema]);
    return {
        ...tool,
        description: clip(tool.description, SHORT_DESCRIPTION),
        inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(named) },
    };
}

function tokensOf(tools: readonly SiteTool[]): number {
    const text = JSON.stringify(tools);
    const min = text.length / MAX_TOKEN;
    return min > LIST_TOKENS ? min : Math.max(min, estimateTokens(text));
}

/** The criteria for the endpoints of a list. */
export interface ToolChoice {
    names: readonly string[] | undefined;
    effect: Effect | undefined;
}

/** Sorts endpoints, best first: those that work, then by recent use. */
export function chooseEndpoints(
    endpoints: readonly Endpoint[],
    { names, effect }: ToolChoice,
    health: ReadonlyMap<string, { successRate: number | null; lastSuccessAt: Date | null }>,
): Endpoint[] {
    const rankOf = ({ name }: Endpoint): [number, number] => {
        const { successRate = null, lastSuccessAt = null } = health.get(name) ?? {};
        return [successRate === null ? 0.5 : successRate, lastSuccessAt?.getTime() ?? 0];
    };
    return endpoints
        .filter((one) => one.hosted && (names?.includes(one.name) ?? true) && (effect === undefined || one.effect === effect))
        .map((endpoint) => ({ endpoint, rank: rankOf(endpoint) }))
        .toSorted((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1])
        .map(({ endpoint }) => endpoint);
}
