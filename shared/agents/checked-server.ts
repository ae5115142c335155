import {
    type JSONRPCRequest,
    ProtocolError,
    ProtocolErrorCode,
    type Result,
    Server,
    type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '../domain/types.ts';
import { argumentProblems } from './argument-problems.ts';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

const text = { type: 'string' };
const object = { type: 'object' };

/** Params that are checked here, because the MCP SDK answers bad ones with an internal error or raw validator output. */
const PARAMS: Readonly<Record<string, JsonObject>> = {
    initialize: {
        properties: {
            protocolVersion: text,
            capabilities: object,
            clientInfo: { ...object, properties: { name: text, version: text }, required: ['name', 'version'] },
        },
        required: ['protocolVersion', 'capabilities', 'clientInfo'],
    },
    'tools/call': { properties: { name: text, arguments: object }, required: ['name'] },
};

/** An MCP server that says in words what is wrong with the params of `initialize` and `tools/call`. */
export class CheckedServer extends Server {
    protected override _wrapHandler(method: string, handler: Handler): Handler {
        const wrapped = super._wrapHandler(method, handler);
        const schema = PARAMS[method];
        if (schema === undefined) return wrapped;
        return async (request, context) => {
            const problems = argumentProblems(schema, request.params ?? {});
            if (problems.length === 0) return wrapped(request, context);
            const words = problems.map(({ message }) => message).join(' ');
            throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}. ${words}`);
        };
    }
}
