import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { VERSION } from '../platform/version.ts';
import { type Ask, AskFailure, type Told } from './ask.ts';
import { type Failed, nextCall, whatToDo } from './next-step.ts';
import { type AgentTool, type Arguments, DEFAULT_CHARACTERS } from './tool.ts';
import { withinBudget } from './within-budget.ts';

/**
 * Tools of the Model Context Protocol, over whatever transport.
 * @param ask calls the API with the key, limits and credits of the person who runs the agent
 */
export function agentServer(tools: readonly AgentTool[], ask: Ask, instructions: string): Server {
    const server = new Server({ name: 'routebook', title: 'Routebook', version: VERSION }, { instructions, capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: tools.map(listed) }));
    server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }) => {
        const tool = tools.find((one) => one.name === name);
        if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
        return call(tool, args, ask);
    });
    return server;
}

function listed({ name, description, inputSchema, outputSchema, annotations }: AgentTool) {
    return { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }), annotations };
}

async function call(tool: AgentTool, args: Arguments, ask: Ask): Promise<CallToolResult> {
    const problems = problemsOf(tool, args);
    if (problems.length > 0) return failure({ ...INVALID_ARGUMENTS, details: problems }, { tool: tool.name, args });
    try {
        return success(await tool.run(args, ask), args['max_characters'] as number | undefined);
    } catch (error) {
        if (!(error instanceof AskFailure)) throw error;
        return failure(error.told, { tool: tool.name, args });
    }
}

/** The result as text and as an object, both within the budget. */
function success(result: Record<string, unknown>, most = DEFAULT_CHARACTERS): CallToolResult {
    const { text, isCut } = withinBudget(result, most);
    if (!isCut) return { content: [{ type: 'text', text }], structuredContent: result };
    return { content: [{ type: 'text', text }], structuredContent: parseExact(text) as Record<string, unknown> };
}

function failure(told: Told, failed: Failed): CallToolResult {
    const error = { ...told, what_to_do: whatToDo(told), next: nextCall(told, failed) };
    const text = JSON.stringify({ error });
    return { isError: true, content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
}

const INVALID_ARGUMENTS: Told = {
    code: 'INVALID_ARGUMENTS',
    message: 'The tool does not take these arguments; details name each problem.',
    fault: 'caller',
    retryable: false,
};

const ajv = new Ajv2020({ allErrors: true, strict: false });
const checks = new WeakMap<object, (args: unknown) => ErrorObject[]>();

function problemsOf({ inputSchema }: AgentTool, args: Arguments): NonNullable<Told['details']> {
    let check = checks.get(inputSchema);
    if (check === undefined) {
        const validate = ajv.compile(inputSchema);
        check = (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
        checks.set(inputSchema, check);
    }
    return check(args).map(presentProblem);
}

function presentProblem({ keyword, instancePath, params, message = '' }: ErrorObject): { path: string; code: string; message: string } {
    const { missingProperty, additionalProperty } = params as { missingProperty?: string; additionalProperty?: string };
    if (missingProperty !== undefined) return { path: `${instancePath}/${missingProperty}`, code: 'REQUIRED', message };
    if (additionalProperty !== undefined) return { path: `${instancePath}/${additionalProperty}`, code: 'UNKNOWN_FIELD', message };
    return { path: instancePath, code: keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE', message };
}
