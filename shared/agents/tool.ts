import type { JsonObject } from '../domain/types.ts';
import type { Ask } from './ask.ts';

/** Checked arguments of a call. */
export type Arguments = Record<string, unknown>;

/** The protocol's hints about what a call may change. */
export interface ToolHints {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
}

/** One tool, as lists show it and as calls run it. */
export interface AgentTool {
    name: string;
    description: string;
    inputSchema: JsonObject & { type: 'object' };
    outputSchema?: JsonObject & { type: 'object' };
    annotations: ToolHints;
    /** Whether its routes take no calls without a key. */
    needsKey: boolean;
    /** Its arguments are params of an endpoint, which the route judges. */
    isJudgedByRoute?: boolean;
    /** What the agent reads; cut to `max_characters` by the caller. @throws AskFailure */
    run(args: Arguments, ask: Ask): Promise<Record<string, unknown>>;
}

/** Changes nothing, neither here nor at a site. */
export const READS: ToolHints = { readOnlyHint: true };
/** May change something at a site, and another time something else. */
export const WRITES: ToolHints = { readOnlyHint: false, destructiveHint: true };
/** Adds something to Routebook, and changes nothing at a site. */
export const ADDS: ToolHints = { readOnlyHint: false, destructiveHint: false };

/** The longest text of a result where the call names no `max_characters`: about 2,500 tokens of JSON. */
export const DEFAULT_CHARACTERS = 8000;

/** Inputs that several tools take. */
export const site = { type: 'string' } as const;
export const endpoint = { type: 'string' } as const;
export const params = { type: 'object' } as const;
export const text = { type: 'string' } as const;
export const count = { type: 'integer' } as const;
export const most = { max_characters: { type: 'integer', minimum: 500, maximum: 200_000 } } as const;

/** A schema of arguments: no others are taken. */
export function takes(properties: JsonObject, required: readonly string[]): JsonObject & { type: 'object' } {
    return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** A schema of results: failures have `error` in the place of these, so none is required. */
export function gives(properties: JsonObject): JsonObject & { type: 'object' } {
    return { type: 'object', properties };
}

/** What the API answers as `data`. @throws AskFailure */
export async function dataOf(ask: Ask, call: Parameters<Ask>[0]): Promise<Record<string, unknown>> {
    return (await ask(call))['data'] as Record<string, unknown>;
}
