import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { Served } from '../../shared/agents/agent-server.ts';
import { type Ask, AskFailure } from '../../shared/agents/ask.ts';
import type { AgentTool } from '../../shared/agents/tool.ts';
import { INSTRUCTIONS, TOOLS } from '../../shared/agents/tool-list.ts';
import type { App } from '../../shared/app.ts';
import { BODY_BYTES } from '../../shared/contracts/body-bytes.ts';
import { EFFECTS } from '../../shared/domain/accounts/scopes.ts';
import type { Effect } from '../../shared/domain/types.ts';
import { type Detail, invalidFields, Refusal } from '../../shared/refusals.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { createClientTurns, fetchShareOf } from '../admission/event-loop-turns.ts';
import { KeyedQueue } from '../admission/keyed-queue.ts';
import { perApp } from '../admission/per-app.ts';
import { callOwnApi } from '../answers/own-api.ts';
import { packed } from '../answers/packed.ts';
import { servePublic } from '../answers/public-file.ts';
import { keyRequired } from '../auth/api-key.ts';
import { callerOf } from '../auth/caller.ts';
import { readJsonBody } from '../bodies/json-body.ts';
import { goneSignal } from '../call.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { findSiteTools } from './find-site-tools.ts';
import { fullResultsOf } from './full-results.ts';
import { sealedAgreements } from './sealed-agreements.ts';

/** The transport's response headers that are forwarded; hapi sets the others. */
const KEPT_HEADERS = ['content-type', 'mcp-protocol-version'] as const;
/** Maximum number of messages in one request. They run concurrently, and some of their routes have no rate limit. */
const MAX_MESSAGES = 10;

/**
 * `POST /mcp` serves the general tools, `POST /mcp/{site}` the endpoints of one site, over stateless streamable HTTP. Tools call our own
 * routes with the caller's key, so that limits, credits and errors are those of the API.
 */
export const agentTools: AppPlugin = {
    name: 'mcp',
    register(server, { app }) {
        const turns = createClientTurns(fetchShareOf(app).pauseAfter);
        let isLoaded = false;
        const serve = async (request: Request, h: ResponseToolkit, signIn: boolean, find: () => Promise<Offer>) => {
            const caller = callerOf(request);
            if (signIn && caller === undefined) throw keyRequired(app, 'This tool needs a sign-in or an API key');
            const { value, faults } = await readJsonBody(request, { guard: 'data', maxBytes: BODY_BYTES, hasParams: true });
            const parsedBody = messagesIn(value);
            if (faults.length > 0) {
                const errors = errorsOf(parsedBody, faults);
                if (errors.length === 0) throw invalidFields(faults);
                return h.response(Array.isArray(parsedBody) ? errors : errors[0]).header('cache-control', 'no-store');
            }
            const { tools, instructions } = await find();
            if (caller === undefined && callsWithKey(parsedBody, tools)) throw keyRequired(app, 'This tool needs a sign-in or an API key');
            await turns.wait(limitIdentity(request.app.clientAddress));
            if (!isLoaded) await loadProtocol();
            isLoaded = true;
            const { serveTools } = await import('./serve-tools.ts');
            const fullResults = caller && fullResultsOf(app, caller);
            const agreements = caller && sealedAgreements(app, caller);
            const served = { tools, instructions, ask: askAs(app, request), fullResults, agreements };
            const { status, headers, body } = await serveTools(webRequest(app, request), parsedBody, served);
            const response = packed(body, request, h).code(status).header('cache-control', 'no-store');
            for (const name of KEPT_HEADERS) {
                const value = headers.get(name);
                if (value !== null) response.header(name, value);
            }
            return response;
        };
        // Some clients look only at the root.
        for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp/{site?}']) {
            servePublic(server, path, { isOpen: true, read: ({ params }) => describeResource(app, params['site']) });
        }
        server.route([
            {
                method: 'POST',
                path: '/mcp',
                options: { app: { isOpen: false, resource: () => '/mcp' }, auth: { strategy: 'api-key', mode: 'optional' } },
                handler(request, h) {
                    requireOwnOrigin(app, request);
                    const { names, signIn } = readQuery(request, 'tools');
                    return serve(request, h, signIn, async () => ({ tools: generalTools(names), instructions: INSTRUCTIONS }));
                },
            },
            {
                method: 'POST',
                path: '/mcp/{site}',
                options: {
                    app: { isOpen: false, resource: ({ params }) => `/mcp/${encodeURIComponent(String(params['site']))}` },
                    auth: { strategy: 'api-key', mode: 'optional' },
                },
                handler(request, h) {
                    requireOwnOrigin(app, request);
                    const { names, effect, signIn } = readQuery(request, 'endpoints');
                    return serve(request, h, signIn, async () => {
                        const asker = { client: limitIdentity(request.app.clientAddress), gone: goneSignal(request) };
                        const { site, tools } = await findSiteTools(app, String(request.params['site']), { names, effect }, asker);
                        return { tools, instructions: `The endpoints of ${site}. A call costs credits when it succeeds.` };
                    });
                },
            },
        ]);
    },
};

/** Loads the MCP SDK and its packages in separate turns of the event loop, since together they take up to 0.3 s. */
async function loadProtocol(): Promise<void> {
    // The largest of the packages.
    await import('zod/v4/core');
    await nextTurn();
    await import('zod/v4');
    await nextTurn();
    await import('@modelcontextprotocol/server');
    await nextTurn();
}

/** Protected resource metadata (RFC 9728). Clients sign in with OAuth, or use a key that a person created. */
function describeResource(app: App, site: unknown): object {
    const resource = `${app.publicUrl()}/mcp${site === undefined ? '' : `/${encodeURIComponent(String(site))}`}`;
    return {
        resource,
        resource_name: 'Routebook',
        authorization_servers: [app.publicUrl()],
        scopes_supported: [...EFFECTS],
        bearer_methods_supported: ['header'],
        resource_documentation: `${app.publicUrl()}/docs/agents`,
    };
}

type Offer = Pick<Served, 'tools' | 'instructions'>;

/** Rejects requests from pages of other origins. This also stops DNS rebinding, since our origin is the configured one. */
function requireOwnOrigin(app: App, { raw }: Request): void {
    const { origin } = raw.req.headers;
    if (origin !== undefined && origin !== new URL(app.publicUrl()).origin) {
        throw new Refusal('FORBIDDEN', 'Pages of other origins cannot use the agent tools.');
    }
}

/** Reads the query. @param list the parameter that names tools @throws Refusal VALIDATION_ERROR with every problem */
function readQuery({ query }: Request, list: 'tools' | 'endpoints') {
    const { [list]: named, sign_in: signIn, effect, ...rest } = query as Record<string, unknown>;
    const problems: Detail[] = Object.keys(rest).map((name) => problem(name, 'UNKNOWN_FIELD', 'There is no such query parameter'));
    const names = readNames(list, named, problems);
    if (signIn !== undefined && signIn !== 'true' && signIn !== 'false')
        problems.push(problem('sign_in', 'INVALID_VALUE', 'true or false'));
    if (effect !== undefined && list === 'tools') problems.push(problem('effect', 'UNKNOWN_FIELD', 'There is no such query parameter'));
    else if (effect !== undefined && !EFFECTS.some((one) => one === effect))
        problems.push(problem('effect', 'INVALID_VALUE', 'read or write'));
    if (problems.length > 0) throw invalidFields(problems);
    return { names, effect: effect as Effect | undefined, signIn: signIn === 'true' };
}

function generalTools(names: readonly string[] | undefined): readonly AgentTool[] {
    if (names === undefined) return TOOLS;
    const unknown = names.filter((name) => !TOOLS.some((tool) => tool.name === name));
    const details = unknown.map((name) => problem('tools', 'INVALID_VALUE', `There is no tool ${name.slice(0, 64)}`));
    if (details.length > 0) throw invalidFields(details);
    return TOOLS.filter(({ name }) => names.includes(name));
}

function readNames(parameter: string, value: unknown, problems: Detail[]): string[] | undefined {
    if (value === undefined) return undefined;
    if (typeof value !== 'string') problems.push(problem(parameter, 'REPEATED', 'Send it only once'));
    const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : [];
    if (names.includes('')) problems.push(problem(parameter, 'INVALID_VALUE', 'Use names separated by commas'));
    return names;
}

function problem(parameter: string, code: Detail['code'], message: string): Detail {
    return { path: `/${parameter}`, code, message };
}

/**
 * Drops a cancellation of a call of the same request: the call would get no answer, and the transport would wait for it forever. Refuses
 * calls with the same id: both would be charged, and only one would get an answer.
 * @throws Refusal VALIDATION_ERROR
 */
function messagesIn(body: unknown): unknown {
    if (!Array.isArray(body)) return body;
    if (body.length > MAX_MESSAGES) throw new Refusal('VALIDATION_ERROR', `At most ${MAX_MESSAGES} messages are accepted in one request.`);
    const ids = body.map((message: { id?: unknown } | null) => message?.id).filter((id) => id !== undefined);
    if (new Set(ids).size < ids.length) throw new Refusal('VALIDATION_ERROR', 'Two messages of one request have the same id.');
    return body.filter((message: { method?: unknown } | null) => message?.method !== 'notifications/cancelled');
}

/** The JSON-RPC code for invalid params. */
const INVALID_PARAMS = -32602;

/** Number of invalid values that one error names: each request of the body gets it. */
const MAX_NAMED = 3;

/**
 * Builds an error for each request of a body with an invalid value, such as a NUL character. A notification gets no answer. Empty if an id
 * is invalid, such as a number that would be rounded: the client could not match the answer.
 */
function errorsOf(body: unknown, faults: readonly Detail[]): object[] {
    if (faults.some(({ path }) => /^(\/\d+)?\/id$/.test(path))) return [];
    const message = `Invalid params. ${faults
        .slice(0, MAX_NAMED)
        .map(({ path, message }) => `${path}: ${message}`)
        .join(' ')}`;
    const messages = (Array.isArray(body) ? body : [body]) as ({ id?: unknown } | null | undefined)[];
    const ids = messages.map((one) => one?.id).filter((id) => typeof id === 'string' || typeof id === 'number');
    return ids.map((id) => ({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message } }));
}

function callsWithKey(body: unknown, tools: readonly AgentTool[]): boolean {
    const messages = (Array.isArray(body) ? body : [body]) as ({ method?: unknown; params?: { name?: unknown } | null } | null)[];
    const called = messages.filter((message) => message?.method === 'tools/call').map((message) => message?.params?.name);
    return tools.some(({ name, needsKey }) => needsKey && called.includes(name));
}

function webRequest(app: App, { raw }: Request): globalThis.Request {
    const headers = Object.entries(raw.req.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    const request = new globalThis.Request(`${app.publicUrl()}/mcp`, { method: 'POST', headers });
    if (acceptsJson(raw.req.headers.accept)) request.headers.set('accept', 'application/json, text/event-stream');
    return request;
}

/** Responses are JSON, so a client that accepts JSON need not accept event streams too, which the MCP SDK requires. */
function acceptsJson(accept = '*/*'): boolean {
    return accept.split(',').some((range) => /^\s*(?:\*\/\*|application\/(?:\*|json))\s*(?:;|$)/i.test(range));
}

/**
 * Runs one read of an account at a time, except long polls: a request may have ten messages, and the limit on the reads of a client does not
 * apply within this process.
 */
const readsOf = perApp(() => new KeyedQueue());

/** Calls our own routes with the key of the agent's request. The calls end when the agent leaves, like any other caller's. */
function askAs(app: App, request: Request): Ask {
    const { authorization } = request.raw.req.headers;
    const reader = callerOf(request)?.accountId ?? limitIdentity(request.app.clientAddress);
    const gone = goneSignal(request);
    const turn = { keys: [reader], gone };
    return async ({ method, path, query = {}, body, headers, confirmed, onLong }) => {
        const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
        const call = () =>
            callOwnApi(request, {
                method,
                path: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`,
                body,
                headers: { ...(authorization !== undefined && { authorization }), ...headers },
                app: { confirmed, gone },
            });
        const answer = await (method === 'GET' && !query['wait'] ? readsOf(app).run(turn, call) : call());
        if (answer.error !== undefined) throw new AskFailure(answer.error);
        if (answer.isCut) onLong?.(answer.text);
        return answer.body;
    };
}
