import type { JsonObject } from '../domain/types.ts';
import type { Ask } from './ask.ts';

export type Arguments = Record<string, unknown>;

/** The protocol's hints about what a call may change. */
interface ToolHints {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    openWorldHint?: boolean;
}

/** A tool, with its description for lists and its implementation for calls. */
export interface AgentTool {
    name: string;
    description: string;
    inputSchema: JsonObject & { type: 'object' };
    outputSchema?: JsonObject & { type: 'object' };
    annotations: ToolHints;
    needsKey: boolean;
    /** Its arguments are params of an endpoint, which the API route validates. */
    isCheckedByRoute?: boolean;
    /** Returns the result; the caller cuts it to `max_characters`. @throws AskFailure */
    run(args: Arguments, ask: Ask): Promise<Record<string, unknown>>;
}

/** Changes nothing, neither in Routebook nor at a site. */
export const READS: ToolHints = { readOnlyHint: true };
/** May change something at a site; repeating it may change more. */
export const WRITES: ToolHints = { readOnlyHint: false, destructiveHint: true };
/** Adds something to Routebook and changes nothing at a site. */
export const ADDS: ToolHints = { readOnlyHint: false, destructiveHint: false };

/** The default of `max_characters`: about 2,500 tokens of JSON. */
export const DEFAULT_CHARACTERS = 8000;

/** Schemas of arguments that several tools share. */
export const site = { type: 'string' } as const;
export const endpoint = { type: 'string' } as const;
export const params = { type: 'object' } as const;
export const text = { type: 'string' } as const;
export const count = { type: 'integer' } as const;
export const maxCharacters = { max_characters: { type: 'integer', minimum: 500, maximum: 200_000 } } as const;

/** A schema of arguments that allows no other arguments. */
export function takes(properties: JsonObject, required: readonly string[]): JsonObject & { type: 'object' } {
    return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** A schema of results. No field is required, because failures have `error` instead. */
export function gives(properties: JsonObject): JsonObject & { type: 'object' } {
    return { type: 'object', properties };
}

/** Calls the API and returns the `data` of its answer. @throws AskFailure */
export async function dataOf(ask: Ask, call: Parameters<Ask>[0]): Promise<Record<string, unknown>> {
    return (await ask(call))['data'] as Record<string, unknown>;
}
