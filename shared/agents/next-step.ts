import { creditsToConfirm } from '../domain/accounts/confirm-above.ts';
import type { ApiError } from './ask.ts';
import type { Arguments } from './tool.ts';

interface NextCall {
    tool: string;
    arguments: Arguments;
    after_seconds?: number;
}

export interface Failed {
    tool: string;
    args: Arguments;
    /** The tool is an endpoint of one site, so its arguments are params. */
    isEndpoint: boolean;
    /** The names of all tools that the agent can call. */
    offered: ReadonlySet<string>;
}

const REFUSED_CREDENTIAL = 'The site refuses this credential. The person you work for gives the connection a new one in the dashboard.';

const BY_CODE: ReadonlyMap<string, string> = new Map([
    ['INVALID_ARGUMENTS', 'Correct the arguments that details name, and call again.'],
    ['API_KEY_REQUIRED', 'This needs an API key. Ask the person you work for to sign up and give you one.'],
    ['INVALID_API_KEY', 'The key is mistyped, revoked or expired. Ask for another one.'],
    ['INSUFFICIENT_CREDITS', 'The credits are used up. Tell the person you work for; upgrade_url leads to more.'],
    ['SPENDING_LIMIT', 'A cap that the account set itself is reached. Tell the person you work for.'],
    ['FORBIDDEN', 'The key you work with may not do this; the message says why. Tell the person you work for.'],
    ['CONNECTION_REQUIRED', 'The site asks for an account of its own. The person you work for connects it at connect_url.'],
    ['CONNECTION_REJECTED', REFUSED_CREDENTIAL],
    ['UPSTREAM_UNAUTHORIZED', REFUSED_CREDENTIAL],
    ['CONNECTION_NOT_FOUND', 'You may use no such connection. Leave connection out: then the only one for the site is used.'],
    ['VERSION_NOT_FOUND', 'Leave version out to call the latest one.'],
    ['SITE_NOT_FOUND', 'Nobody has described this site yet. Use another one, or ask for it with request_schema.'],
    ['INVALID_DOMAIN', 'A site is named by its bare domain, as find_endpoint shows it.'],
    ['ENDPOINT_NOT_FOUND', 'The site has no such endpoint. Look the site up again.'],
    ['ENDPOINT_NOT_HOSTED', 'This endpoint is for calling it yourself: build the request from what look_up_site says.'],
    ['INVALID_PARAMS', 'Correct the params that details name, and call again.'],
    ['SITE_BLOCKED', 'The owner of this site does not want it called. Do not try again.'],
    ['UPSTREAM_BLOCKED', 'The site shows a bot challenge. Do not try to get round it.'],
    ['UPSTREAM_INVALID_RESPONSE', 'The site has changed and its schema no longer fits. Report it, or use another endpoint.'],
    ['UPSTREAM_STATUS', 'The site itself refused; upstream has its status and what it said. Check the params before you call again.'],
    ['OUTCOME_UNKNOWN', 'It may have happened or not. Do not repeat it; look at the site whether it happened.'],
]);

/** The tools that call one endpoint. */
const SENDING: ReadonlySet<string> = new Set(['fetch', 'start_job']);

/** There are connections, but one has to be chosen, or its owner has to agree to a change. */
const CONNECTION_OPEN = 'details say what to choose as connection, or what the person you work for has to agree to in the dashboard.';

const UNCONFIRMED =
    'Only a person may let this happen, and this client cannot ask one. Tell the person you work for: they can raise confirm_above of the key.';

export function nextStepText({ code, retryable, retry_after: seconds, did_you_mean: meant, details = [] }: ApiError): string {
    const known = creditsToConfirm({ details }) === undefined ? knownStep(code, details) : UNCONFIRMED;
    const again = retryable ? `The same call may succeed ${seconds === undefined ? 'in a moment' : `in ${seconds} s`}.` : undefined;
    const similar = meant === undefined ? undefined : 'Use one of did_you_mean if that was meant.';
    const correct = known === undefined && details.length > 0 ? 'Correct what details name, and call again.' : undefined;
    return [similar, known, correct, again].filter((text) => text !== undefined).join(' ') || 'Do not repeat this call as it is.';
}

function knownStep(code: string, details: readonly unknown[]): string | undefined {
    return code === 'CONNECTION_REQUIRED' && details.length > 0 ? CONNECTION_OPEN : BY_CODE.get(code);
}

/** The next call after a failure, with a tool that is offered; null if a person must act, or no call helps. */
export function nextCall(error: ApiError, failed: Failed): NextCall | null {
    const { tool, args, isEndpoint, offered } = failed;
    const { retryable, retry_after: seconds } = error;
    if (retryable) return { tool, arguments: args, ...(seconds === undefined ? {} : { after_seconds: seconds }) };
    const next = isEndpoint ? null : otherCall(error, failed);
    return next !== null && offered.has(next.tool) ? next : null;
}

/** The next call after a failure of a general tool that a repetition does not help. */
function otherCall(error: ApiError, { tool, args }: Failed): NextCall | null {
    const { code, did_you_mean: [meant] = [] } = error;
    const { site, endpoint, intent, task } = args;
    const words = [intent, task].find((text) => typeof text === 'string' && text.trim().length >= 3);
    switch (code) {
        case 'SITE_NOT_FOUND':
        case 'INVALID_DOMAIN':
            if (meant !== undefined) return retarget({ tool, args: { ...args, site: meant } });
            return { tool: 'find_endpoint', arguments: { task: words ?? `${wordsOf(endpoint)} ${String(site)}`.trim() } };
        case 'ENDPOINT_NOT_FOUND':
            return meant === undefined ? lookUp(site, endpoint) : retarget({ tool, args: { ...args, endpoint: meant } });
        case 'INVALID_PARAMS':
        case 'ENDPOINT_NOT_HOSTED':
        case 'VERSION_NOT_FOUND':
        case 'UPSTREAM_STATUS':
            return lookUp(site, endpoint);
        case 'INTENT_REQUIRED':
        case 'INTENT_TOO_SHORT':
        case 'INTENT_TOO_FEW_WORDS':
            return words === undefined ? lookUp(site, endpoint) : { tool: 'find_endpoint', arguments: { task: words, site } };
        case 'UPSTREAM_INVALID_RESPONSE':
        case 'UPSTREAM_REDIRECT':
        case 'EGRESS_DENIED':
            return {
                tool: 'report_problem',
                arguments: { site, endpoint, kind: 'broken', text: `${code}: ${error.message}`.slice(0, 1000) },
            };
        case 'UPSTREAM_BLOCKED':
        case 'SITE_BLOCKED':
            return { tool: 'find_endpoint', arguments: { task: words ?? wordsOf(endpoint) } };
        case 'SPENDING_LIMIT':
        case 'INSUFFICIENT_CREDITS':
            return site === undefined || tool === 'price_fetch' ? null : { tool: 'price_fetch', arguments: pickCall(args) };
        default:
            return null;
    }
}

/** The same call of what was meant. Nobody confirmed that yet, and it may be a write: instead of sending it, it is priced. */
function retarget({ tool, args }: Pick<Failed, 'tool' | 'args'>): NextCall {
    return SENDING.has(tool) ? { tool: 'price_fetch', arguments: pickCall(args) } : { tool, arguments: args };
}

function lookUp(site: unknown, endpoint: unknown): NextCall {
    return { tool: 'look_up_site', arguments: { site, intent: `see the params of ${wordsOf(endpoint)} on this site` } };
}

function pickCall({ site, endpoint, params }: Arguments): Arguments {
    return { site, endpoint, ...(params === undefined ? {} : { params }) };
}

function wordsOf(name: unknown): string {
    return typeof name === 'string' && name !== '' ? name.replaceAll('_', ' ') : 'every endpoint';
}
