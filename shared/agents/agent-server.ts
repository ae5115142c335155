import {
    type CallToolResult,
    type InputRequiredResult,
    ProtocolError,
    ProtocolErrorCode,
    type Server,
    type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/v4';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { didYouMean } from '../domain/text/suggestions.ts';
import { VERSION } from '../platform/version.ts';
import type { ItemDetail } from '../refusals.ts';
import { argumentProblems } from './argument-problems.ts';
import { type ApiCall, type ApiError, type Ask, AskFailure } from './ask.ts';
import { CheckedServer } from './checked-server.ts';
import { fitToBudget } from './fit-to-budget.ts';
import { type FullResults, readResultPage, resultUri } from './full-results.ts';
import { type Failed, nextCall, nextStepText } from './next-step.ts';
import { type Agreement, type Agreements, findAgreement, questionOf } from './questions.ts';
import { type AgentTool, type Arguments, DEFAULT_CHARACTERS } from './tool.ts';

export interface Served {
    tools: readonly AgentTool[];
    instructions: string;
    /** Calls the API with the key, limits and credits of the person who runs the agent. */
    ask: Ask;
    /** Stores results that are too long. Absent: results are cut and the rest is lost. */
    fullResults?: FullResults | undefined;
    /** Lets a person confirm the price of a write. Absent: nobody is asked. */
    agreements?: Agreements | undefined;
}

/** Creates a Model Context Protocol server for these tools, independent of the transport. */
export function agentServer({ tools, ask, instructions, fullResults, agreements }: Served): Server {
    const capabilities = { tools: {}, ...(fullResults === undefined ? {} : { resources: {} }) };
    const server = new CheckedServer({ name: 'routebook', title: 'Routebook', version: VERSION }, { instructions, capabilities });
    if (fullResults !== undefined) serveFullResults(server, fullResults);
    server.setRequestHandler('tools/list', LIST, ({ cursor }) => {
        refuseCursor(cursor);
        return { tools: tools.map(toListedTool) };
    });
    server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
        const tool = tools.find((one) => one.name === name);
        if (tool === undefined) throw unknownTool(name, tools);
        return callTool(tool, args, { tools, ask, fullResults, agreements, mcpReq });
    });
    return server;
}

/** Given to the package, which otherwise answers wrong params as an internal error. */
const LIST = { params: z.looseObject({ cursor: z.string().optional() }) };
const READ = { params: z.looseObject({ uri: z.string() }) };

/** Each list has one page, so no answer has a cursor. Some clients send an empty one with their first request. */
function refuseCursor(cursor: string | undefined): void {
    if (cursor) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor: this list has no further page. Leave it out.');
}

/** Serves stored results as resources. Clients can read them by address, but lists do not contain them. */
function serveFullResults(server: Server, fullResults: FullResults): void {
    server.setRequestHandler('resources/list', LIST, ({ cursor }) => {
        refuseCursor(cursor);
        return { resources: [] };
    });
    server.setRequestHandler('resources/templates/list', LIST, ({ cursor }) => {
        refuseCursor(cursor);
        return { resourceTemplates: [] };
    });
    server.setRequestHandler('resources/read', READ, async ({ uri }) => {
        const page = await readResultPage(fullResults, uri);
        if (page === undefined)
            throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No such result, or it is older than a day: ${uri.slice(0, 200)}`);
        return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(page) }] };
    });
}

function unknownTool(name: string, tools: readonly AgentTool[]): ProtocolError {
    const near = didYouMean(
        name,
        tools.map((tool) => tool.name),
    );
    const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}${hint}`);
}

function toListedTool({ name, description, inputSchema, outputSchema, annotations }: AgentTool) {
    return { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }), annotations };
}

async function callTool(
    tool: AgentTool,
    args: Arguments,
    { tools, ask, fullResults, agreements, mcpReq }: Omit<Served, 'instructions'> & Pick<ServerContext, 'mcpReq'>,
): Promise<CallToolResult | InputRequiredResult> {
    const problems = tool.isCheckedByRoute ? [] : argumentProblems(tool.inputSchema, args);
    const asked = { tool: tool.name, args };
    const offered = new Set(tools.map(({ name }) => name));
    const failed: Failed = { ...asked, isEndpoint: tool.isCheckedByRoute === true, offered };
    if (problems.length > 0) return failure({ ...INVALID_ARGUMENTS, details: problems }, failed);
    const agreement = await findAgreement(mcpReq, asked, agreements);
    try {
        const maxCharacters = tool.isCheckedByRoute ? undefined : (args['max_characters'] as number | undefined);
        const long: string[] = [];
        const onLong = (text: string) => long.push(text);
        const result = await tool.run(args, (one) => ask({ ...(agreement === undefined ? one : confirmedCall(one, agreement)), onLong }));
        return await success(tool, result, { maxCharacters, fullResults, long });
    } catch (error) {
        if (!(error instanceof AskFailure)) throw error;
        return (await questionOf(error.apiError, mcpReq, asked, agreements)) ?? failure(error.apiError, failed);
    }
}

function confirmedCall(call: ApiCall, { credits, once }: Agreement): ApiCall {
    return { ...call, confirmed: credits, headers: { 'idempotency-key': once, ...call.headers } };
}

interface SuccessOptions {
    maxCharacters: number | undefined;
    fullResults: FullResults | undefined;
    /** Answers of the API of which the result has only the beginning. */
    long: readonly string[];
}

/**
 * Returns the result as text and as an object, both within the budget. If the result was cut, also returns the address of the full result.
 */
async function success(
    { isCheckedByRoute }: AgentTool,
    result: Record<string, unknown>,
    { maxCharacters = DEFAULT_CHARACTERS, fullResults, long }: SuccessOptions,
): Promise<CallToolResult> {
    const { text, isCut } = fitToBudget(result, maxCharacters);
    if (!isCut) return { content: [{ type: 'text', text }], structuredContent: result };
    const [whole = JSON.stringify(result)] = long;
    const id = (await fullResults?.keep(whole)) ?? (await fullResults?.keep(JSON.stringify(result)));
    // Cut data no longer matches the output schema of its endpoint.
    const { data, ...rest } = parseExact<Record<string, unknown>>(text);
    return {
        content: [{ type: 'text', text }, ...(id === undefined ? [] : [linkTo(id)])],
        structuredContent: isCheckedByRoute ? rest : { ...rest, ...(data === undefined ? {} : { data }) },
    };
}

function linkTo(id: string) {
    const description = 'The full result as JSON text, in pages, for 24 hours. Read next until it is null.';
    return { type: 'resource_link' as const, uri: resultUri(id), name: 'Full result', description, mimeType: 'application/json' };
}

function failure(apiError: ApiError, failed: Failed): CallToolResult {
    const next = nextCall(apiError, failed);
    const error = {
        ...apiError,
        details: apiError.details && firstOf(apiError.details),
        what_to_do: nextStepText(apiError),
        // The agent knows the call that it made, so a long one is not repeated.
        next: JSON.stringify(next).length > MAX_NEXT ? null : next,
    };
    const text = JSON.stringify({ error });
    return { isError: true, content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
}

/** Maximum length of the details of a failure, and of its next call, in characters. Both together fit the budget of a result. */
const MAX_DETAILS = 4000;
const MAX_NEXT = 3000;

/** The first problems of a failure. A body may have thousands. */
function firstOf(details: readonly ItemDetail[]): ItemDetail[] {
    let left = MAX_DETAILS;
    return details.filter((detail) => {
        left -= JSON.stringify(detail).length;
        return left >= 0;
    });
}

const INVALID_ARGUMENTS: ApiError = {
    code: 'INVALID_ARGUMENTS',
    message: 'The arguments are invalid; details name each problem.',
    fault: 'caller',
    retryable: false,
};
