import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Ask, AskFailure } from './ask.ts';
import type { FindEffect } from './effects.ts';
import { whatToDo } from './what-to-do.ts';
import { withinBudget } from './within-budget.ts';

/** What every tool works with. */
export interface ToolBox {
    ask: Ask;
    /** What the API answers as `data`. @throws AskFailure */
    dataOf(call: Parameters<Ask>[0]): Promise<unknown>;
    findEffect: FindEffect;
    /**
     * What the agent reads: the result of `work`, or what to do about its failure.
     * @param most characters
     */
    answer(most: number | undefined, work: () => Promise<unknown>): Promise<CallToolResult>;
}

/** Adds one tool to a server. */
export type AddTool = (server: McpServer, box: ToolBox) => void;

const DEFAULT_CHARACTERS = 20_000;

/** Inputs that several tools take. */
export const site = z.string().min(1).max(1024).describe('A domain name, such as shop.example.com');
export const endpoint = z.string().min(1).max(64).describe('Name of an endpoint, as look_up_site gives it');
export const params = z.record(z.string(), z.unknown()).optional().describe('Param name to value, as look_up_site describes them');
export const budget = {
    max_characters: z.number().int().min(500).max(200_000).optional().describe(`Longest result; ${DEFAULT_CHARACTERS} by default`),
};

/** A tool that changes nothing, neither here nor at a site. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: true };

/** A tool that may change something at a site, and another time something else. */
export const WRITES: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** The tools of one agent. */
export function openToolBox(ask: Ask, findEffect: FindEffect): ToolBox {
    return {
        ask,
        findEffect,
        dataOf: async (call) => (await ask(call))['data'],
        async answer(most, work) {
            try {
                return { content: [{ type: 'text', text: withinBudget(await work(), most ?? DEFAULT_CHARACTERS).text }] };
            } catch (error) {
                if (!(error instanceof AskFailure)) throw error;
                const { told } = error;
                const text = JSON.stringify({ error: { ...told, what_to_do: whatToDo(told) } });
                return { isError: true, content: [{ type: 'text', text }] };
            }
        },
    };
}
