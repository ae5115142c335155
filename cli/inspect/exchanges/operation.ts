import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { CACHE_BREAKERS, isProgramWord, namesCredential, personalKind, wordsOf } from '../words/harmless.ts';
import { isPlural } from '../words/segments.ts';
import { CHANGES } from '../words/verbs.ts';

/** A call that its body names, such as a GraphQL query: the constant part of the body, and the caller's arguments. */
export interface Operation {
    protocol: 'graphql' | 'json-rpc' | 'named' | 'override';
    name: string;
    /** Distinguishes this operation from others at the same address. */
    key: string;
    writes: boolean;
    /** The body around the arguments. `argumentsAt` names their field; '' if they are at the top level. */
    fixed: JsonObject;
    argumentsAt: string;
    given: Json | undefined;
    /** Fields of `fixed` that may as well be values of the caller. The answers at the address decide (`settleDispatch`). */
    doubtful: readonly string[];
}

/**
 * Reads GraphQL, JSON-RPC and fields that name an action; `undefined` for any other body. A query text that may contain a user's words is a `fault`.
 * @param readAnswer reads the JSON that answered it
 */
export function operationOf(body: Json, path: string, readAnswer: () => Json | undefined): Operation | { fault: string } | undefined {
    if (Array.isArray(body) && body.length > 0 && body.every((item) => isObject(item) && (isGraphql(item, path) || isRpc2(item))))
        return { fault: 'one request contains several operations' };
    if (!isObject(body)) return undefined;
    if (isRpc2(body) || (mayBeRpc1(body, path) && answersRpc1(readAnswer()))) return rpcOf(body);
    return isGraphql(body, path) ? graphqlOf(body) : namedOf(body, path);
}

/** Fields that name the action, for programs that serve many actions at one address. */
export const NAMES_ACTION = /^_?(?:method|action|call|cmd|command|do|op|operation|act|task|func|function|procedure)$/i;
/** Those that often contain a text of the user (`{task: "Laundry"}`). Alone they name an action only at gateways. */
const OFTEN_TEXT = /^(?:task|call|do|act|command)$/i;
const ARGUMENTS = /^(?:arguments|args|params|parameters|payload|data|input|variables)$/i;
/** Fields beside name and arguments that the site ignores. */
const IGNORED_FIELDS = /^(?:tag|id|seq|version)$/i;
const GATEWAY = /(?:^|[/_.-])(?:ajax|rpc|gateway|xhr|command|dispatch(?:er)?)(?:$|[/_.-])|\.(?:php|cgi|aspx?|jsp|do|ashx)$/i;

/**
 * Reads `{method: "torrent-get", arguments: {…}}`, and fields that name an action beside its arguments: `call=qsearch&q=…`,
 * `op=feeds&method=view&feed=3`, `{op: "getFeeds", limit: 10}`. The first such field is certain only if the address looks like a gateway of
 * many actions.
 */
export function namedOf(body: JsonObject, path: string): Operation | undefined {
    const keys = Object.keys(body);
    if (keys.length > MAX_BESIDE) return undefined;
    const override = body['_method'];
    if (typeof override === 'string' && /^(?:get|put|patch|delete)$/i.test(override)) return overrideOf(override, body);
    const named = keys.filter((one) => NAMES_ACTION.test(one) && isActionName(body[one]));
    const actions = [...named.filter((one) => !OFTEN_TEXT.test(one)), ...named.filter((one) => OFTEN_TEXT.test(one))];
    const [key] = actions;
    if (key === undefined) return undefined;
    const rest = keys.filter((one) => one !== key);
    const at = rest.find((one) => ARGUMENTS.test(one) && isObject(body[one]));
    const isWrapped =
        rest.every((one) => one === at || IGNORED_FIELDS.test(one) || namesCredential(one)) && (at !== undefined || /rpc/i.test(path));
    if (isWrapped) return operationNamed({ [key]: body[key] ?? '' }, body[at ?? ''] ?? undefined, at ?? 'arguments', []);
    const isGateway = GATEWAY.test(path);
    const mayName = (one: string) => (isGateway || actions.length > 1 || !OFTEN_TEXT.test(one)) && isProgramWord(String(body[one]));
    const fixed = actions.filter((one) => (one === key && isGateway) || mayName(one));
    if (fixed.length === 0) return undefined;
    const given = keys.filter((one) => one !== '__proto__' && !fixed.includes(one)).map((one) => [one, body[one] ?? null]);
    const naming = Object.fromEntries(fixed.map((one) => [one, body[one] ?? '']));
    return operationNamed(naming, Object.fromEntries(given), '', isGateway ? fixed.slice(1) : fixed);
}

/** An operation that a header, or the XML around its arguments, names. */
export function calling(method: string, given: JsonObject): Operation {
    return { ...operationNamed({ method }, given, '', []), fixed: {} };
}

/** Many frameworks treat a POST as the method in its field `_method`, since forms can only send GET and POST. */
function overrideOf(method: string, { _method, ...given }: JsonObject): Operation {
    const name = method.toUpperCase();
    return {
        protocol: 'override',
        name,
        key: `override ${name}`,
        writes: name !== 'GET',
        fixed: { _method: method },
        argumentsAt: '',
        given,
        doubtful: [],
    };
}

function operationNamed(fixed: JsonObject, given: Json | undefined, argumentsAt: string, doubtful: readonly string[]): Operation {
    const name = Object.values(fixed).join('.');
    const reads = Object.entries(fixed).map(([field, value]) => readsByName(String(value), doubtful.includes(field)));
    // The other field may say the change (`method=ban&op=list`).
    const writes =
        !reads.includes(true) || Object.values(fixed).some((value, place) => reads[place] !== true && !NO_VERB.test(String(value)));
    return { protocol: 'named', name, key: `named ${name}`, writes, fixed, argumentsAt, given, doubtful };
}

/** The operation if the field `name` is an argument; `undefined` if no other field names the operation. A write stays a write. */
export function withoutAction({ fixed, given, argumentsAt, doubtful, writes }: Operation, name: string): Operation | undefined {
    const { [name]: value = '', ...others } = fixed;
    if (Object.keys(others).length === 0) return undefined;
    const left = doubtful.filter((one) => one !== name);
    const operation = operationNamed(others, isObject(given) ? { [name]: value, ...given } : given, argumentsAt, left);
    return { ...operation, writes: writes || operation.writes };
}

const MAX_BESIDE = 60;

function isActionName(name: Json | undefined): name is string {
    return typeof name === 'string' && /^[A-Za-z][\w.:-]{0,60}$/.test(name) && !/\d{3}/.test(name) && findSecrets(name) === undefined;
}

/**
 * Whether the name of a call says that it changes nothing: `torrent-get`, `listUsers`, `session.stats`, `core.get_config`. A verb of
 * change counts whatever else a name says (`user.get_and_delete`). No list has all such verbs, and words of reading are often nouns
 * (`archive_list`, `start_search`, `list_clone`), so they count only where they are the verb: before several things or a word that joins
 * them (`find_by_owner`), or beside a word that cannot be one. A doubtful name may be a value, such as a status, so it needs a verb and
 * its object.
 */
function readsByName(name: string, isDoubtful = false): boolean {
    if (wordsOf(name).some((word) => CHANGES.test(word))) return false;
    const words = wordsOf(name.split(/[./:]/).at(-1) ?? '');
    const [first = '', second = '', last = ''] = [words[0], words[1], words.at(-1)];
    if (isDoubtful && words.length === 1) return false;
    if (/^(?:get|describe|fetch)$/.test(first) || /^(?:get|find)$/.test(last)) return true;
    if (/^(?:list|find|search|lookup|count)$/.test(first) && (words.length === 1 || isPlural(last) || JOINS.test(second))) return true;
    return !isDoubtful && READS.test(last) && (words.length === 1 || (words.length === 2 && NO_VERB.test(first)));
}

/** Alone, or behind a thing. `read` often marks as read (`messages.read`). */
const READS = /^(?:list|search|qsearch|query|count|show|lookup|stats|status|info|suggest|autocomplete|ping|version)$/;
const JOINS = /^(?:all|by|first|for|in|many|of|one)$/;
const NO_VERB = /^(?:account|app|daemon|device|node|rpc|server|session|system|torrent|user)$/;

function isRpc2(body: JsonObject): boolean {
    return typeof body['method'] === 'string' && typeof body['jsonrpc'] === 'string';
}

/**
 * Whether a body may be JSON-RPC 1.0, which has no version field: a name with a dot or an underscore (`core.get_config`), a list of params, a
 * number or null as id, and nothing else. At an address that contains `rpc`, any name counts and the id may be missing.
 */
function mayBeRpc1({ method, params, id, ...others }: JsonObject, path: string): boolean {
    if (typeof method !== 'string' || !Array.isArray(params)) return false;
    if (/rpc/i.test(path)) return Object.keys(others).every((name) => CACHE_BREAKERS.test(name));
    return /\w[._]\w/.test(method) && (typeof id === 'number' || id === null) && Object.keys(others).length === 0;
}

function answersRpc1(answer: Json | undefined): boolean {
    return isObject(answer) && ('result' in answer || 'error' in answer);
}

function isGraphql(body: JsonObject, path: string): boolean {
    const { query, extensions, operationName } = body;
    if (typeof query === 'string' && /^\s*(?:#[^\n]*\n\s*)*(?:query|mutation|subscription|fragment|\{)/.test(query)) return true;
    return typeof operationName === 'string' && (isObject(extensions) || /graphql|gql/i.test(path));
}

function rpcOf(body: JsonObject): Operation | { fault: string } {
    const method = String(body['method']);
    if (!/^[A-Za-z][\w.:/-]{0,60}$/.test(method) || findSecrets(method) !== undefined)
        return { fault: 'its method name has unusual characters or looks like a secret' };
    const { params } = body;
    const isVersion2 = 'jsonrpc' in body;
    const fixed: JsonObject = { ...(isVersion2 ? { jsonrpc: '2.0' } : {}), ...(isVersion2 || 'id' in body ? { id: 1 } : {}), method };
    // Version 1 always has a list, be it empty.
    if (Array.isArray(params)) fixed['params'] = [];
    const given = Array.isArray(params) && params.length === 0 ? undefined : params;
    return {
        protocol: 'json-rpc',
        name: method,
        key: `rpc ${method}`,
        writes: !readsByName(method),
        fixed,
        argumentsAt: 'params',
        given,
        doubtful: [],
    };
}

function graphqlOf(body: JsonObject): Operation | { fault: string } {
    const query = typeof body['query'] === 'string' ? body['query'] : undefined;
    const declared = /\b(query|mutation|subscription)\b\s*([A-Za-z_]\w*)?/.exec(query ?? '');
    const name = typeof body['operationName'] === 'string' ? body['operationName'] : (declared?.[2] ?? firstField(query ?? ''));
    if (name === undefined || !/^[A-Za-z_]\w{0,60}$/.test(name)) return { fault: 'the GraphQL operation has no name' };
    const literals = [...(query ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '');
    if (literals.some((text) => text !== '' && !isProgramWord(text)) || /(?:\(|,|:)\s*\d{4,}/.test(query ?? ''))
        return { fault: 'the GraphQL query has literal values instead of variables' };
    if (query !== undefined && (findSecrets(query) !== undefined || personalKind(query) !== undefined))
        return { fault: 'the GraphQL query contains a secret or personal data' };
    const fixed: JsonObject = {};
    if (body['operationName'] !== undefined && body['operationName'] !== null) fixed['operationName'] = name;
    if (query !== undefined) fixed['query'] = query;
    const hash = persistedHash(body['extensions']);
    if (query === undefined && hash === undefined) return { fault: 'the GraphQL request has neither a query nor the hash of one' };
    if (query === undefined && hash !== undefined) fixed['extensions'] = { persistedQuery: { version: 1, sha256Hash: hash } };
    return {
        protocol: 'graphql',
        name,
        key: `graphql ${name}`,
        writes: declared?.[1] === 'mutation' || /^(?:create|update|delete|add|remove|set)[A-Z]/.test(name),
        fixed,
        argumentsAt: 'variables',
        given: body['variables'],
        doubtful: [],
    };
}

/** How a GraphQL operation uses one of its variables, such as `the argument first (Int)`. */
export function argumentOf(operation: Operation | undefined, variable: string): string | undefined {
    const query = operation?.protocol === 'graphql' ? operation.fixed['query'] : undefined;
    if (typeof query !== 'string' || !/^[A-Za-z_]\w{0,63}$/.test(variable)) return undefined;
    const type = new RegExp(`\\$${variable}\\s*:\\s*([\\w!\\[\\]]{1,80})`).exec(query)?.[1];
    const argument = new RegExp(`([A-Za-z_]\\w{0,63})\\s*:\\s*\\$${variable}\\b`).exec(query)?.[1];
    return type === undefined || argument === undefined ? undefined : `the argument ${argument} (${type})`;
}

function firstField(query: string): string | undefined {
    return /\{\s*([A-Za-z_]\w*)/.exec(query)?.[1];
}

function persistedHash(extensions: Json | undefined): string | undefined {
    const persisted = isObject(extensions) ? extensions['persistedQuery'] : undefined;
    const hash = isObject(persisted) ? persisted['sha256Hash'] : undefined;
    return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
}
