import { createInliner } from '../domain/json/schema/inline.ts';
import { schemaOfParams } from '../domain/package/param-schema.ts';
import type { Effect, Endpoint, JsonObject } from '../domain/types.ts';
import { type AgentTool, READS, WRITES } from './tool.ts';

/** A version of a site, as far as tools are made of it. */
export interface ToolSite {
    site: string;
    version: number;
    /** Hosted ones, the best first. */
    endpoints: readonly Endpoint[];
}

/** The most tools of one list. */
export const MOST_TOOLS = 100;
/**
 * The most bytes of a list, as JSON: 10,000 tokens of o200k_base, of which schemas and plain words have four bytes and more, and other
 * scripts 2.5 and more.
 */
const LIST_BYTES = 25_000;
const SHORT_DESCRIPTION = 160;

/** The endpoints of a site as tools that take its params. What makes a list too long goes in steps: output schemas, long words, the last tools. */
export function siteTools(site: ToolSite): AgentTool[] {
    const inliner = createInliner();
    let left = LIST_BYTES;
    const whole = site.endpoints.slice(0, MOST_TOOLS).map((endpoint) => {
        // What fits in no list is not made whole: a package may have 4 MiB of schemas.
        if (left <= 0) return plainTool(site, endpoint);
        const tool = toTool(site, endpoint, inliner.inline);
        left -= bytesOf([tool]);
        return tool;
    });
    if (bytesOf(whole) <= LIST_BYTES) return whole;
    const withoutOutput = whole.map(({ outputSchema: _, ...tool }) => tool);
    if (bytesOf(withoutOutput) <= LIST_BYTES) return withoutOutput;
    const short = withoutOutput.map(shortened);
    let size = 0;
    return short.filter((tool) => {
        const bytes = bytesOf([tool]);
        if (size + bytes > LIST_BYTES) return false;
        size += bytes;
        return true;
    });
}

function toTool(site: ToolSite, endpoint: Endpoint, inline: ReturnType<typeof createInliner>['inline']): AgentTool {
    const { schema } = endpoint.response;
    const data = typeof schema === 'object' && schema !== null ? inline(schema) : undefined;
    return {
        ...plainTool(site, endpoint),
        inputSchema: { ...schemaOfParams(endpoint.params, endpoint.bodyFormat, { inline }), type: 'object' },
        // Lists are wrapped, so that only objects are what the package says of them.
        outputSchema: {
            type: 'object',
            properties: { ...(data?.['type'] === 'object' ? { data } : {}), meta: { type: 'object' } } as JsonObject,
        },
    };
}

/** A tool whose params any object may be. */
function plainTool({ site, version }: ToolSite, { name, description, effect }: Endpoint): AgentTool {
    return {
        name,
        description: `${description.trim() || `${name.replaceAll('_', ' ')}.`}${effect === 'write' ? ` Changes something on ${site}.` : ''}`,
        inputSchema: { type: 'object' },
        annotations: effect === 'read' ? { ...READS, openWorldHint: true } : { ...WRITES, openWorldHint: true },
        needsKey: true,
        // What a contributor wrote is compiled where that is bounded: by the route.
        isJudgedByRoute: true,
        async run(params, ask) {
            // This version, so that a publication meanwhile cannot turn a read into a write.
            const body = { site, endpoint: name, params, version };
            const { data, meta } = await ask({ method: 'POST', path: '/v1/fetch', body, isRepeatable: false });
            return { data, meta };
        },
    };
}

function shortened(tool: AgentTool): AgentTool {
    const properties = (tool.inputSchema['properties'] ?? {}) as Record<string, JsonObject>;
    const named = Object.entries(properties).map(([name, { description: _d, examples: _e, ...schema }]) => [name, schema]);
    const { description } = tool;
    return {
        ...tool,
        description:
            description.length > SHORT_DESCRIPTION
                ? `${description
                      .slice(0, SHORT_DESCRIPTION - 1)
                      .toWellFormed()
                      .trimEnd()}…`
                : description,
        inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(named) },
    };
}

function bytesOf(tools: readonly AgentTool[]): number {
    return Buffer.byteLength(JSON.stringify(tools));
}

/** Which endpoints a list has. */
export interface ToolChoice {
    names: readonly string[] | undefined;
    effect: Effect | undefined;
}

/** The best first: those that work, then the ones that are used most lately. */
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
