import { defined } from '../../shared/domain/defined.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import type { JsonObject, PackageParam } from '../../shared/domain/types.ts';
import { type FetchAnswer, type FetchRequest, type Routebook, RoutebookError } from '../client/index.ts';
import { CommandFault } from '../failures.ts';
import { needsSchema, readParams, type TypedParams } from '../package/read-params.ts';
import type { Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';

/** The options of a call, now or queued. */
export interface CallOptions extends TypedParams {
    version?: number | string;
    maxCredits?: number;
    maxResults?: number;
    maxPages?: number;
    maxAge?: number;
    timeout?: number;
    connection?: string;
}

interface FetchOptions extends CallOptions {
    dryRun?: true;
    cursor?: string;
    partial?: true;
    idempotencyKey?: string;
    session?: string;
}

/** `routebook fetch SITE ENDPOINT`: prints the result to stdout and the cost to stderr. */
export async function fetchEndpoint(session: Session, site: string, endpoint: string, options: FetchOptions): Promise<Done> {
    const { terminal, note } = session;
    const client = session.client();
    const params = await paramsOfCall(client, site, endpoint, options);
    const order: FetchRequest = { site, endpoint, params, ...requestFieldsOf(options) };
    const progress = terminal.progress(`${site} ${endpoint}`);
    const answer = await client
        .fetch(order, defined({ idempotencyKey: options.idempotencyKey, sessionId: options.session }))
        .finally(() => progress.end());
    if (session.isJson) return { result: answer };
    if (options.dryRun === true) return { result: answer, lines: dryRunLines(answer, terminal.paint) };
    note(terminal.paintError('dim', metaLine(answer)));
    const { partial_error: failed, next_cursor: next } = answer.meta;
    if (failed !== undefined) note(`! a page failed: ${failed.code}  ${failed.message}`);
    if (next !== undefined) note(terminal.paintError('dim', `continue with --cursor ${next}`));
    return { result: answer, lines: [JSON.stringify(answer.data, undefined, 2)] };
}

/** The params of a call. Requests the endpoint's schema only if a `name=value` needs it. */
export async function paramsOfCall(client: Routebook, site: string, endpoint: string, options: CallOptions): Promise<JsonObject> {
    const asTyped = readParams(options);
    if (!needsSchema(options)) return asTyped;
    return readParams(options, await declaredParams(client, { site, endpoint, version: options.version }));
}

/** The declared params; none if the server answers 4xx. @throws CommandFault ENDPOINT_NOT_FOUND if `mustExist` */
export async function declaredParams(
    client: Routebook,
    { site, endpoint, version }: { site: string; endpoint: string; version?: number | string | undefined },
    { mustExist = false } = {},
): Promise<readonly PackageParam[]> {
    try {
        const { endpoints } = await client.schemas.package(site, defined({ version }));
        const found = endpoints.find(({ name }) => name === endpoint);
        if (found === undefined && mustExist) throw new CommandFault('ENDPOINT_NOT_FOUND', `${site} has no endpoint ${endpoint}.`);
        return found?.params ?? [];
    } catch (error) {
        if (error instanceof RoutebookError && error.status >= 400 && error.status < 500) return [];
        throw error;
    }
}

/** The options of a call as fields of its request. */
export function requestFieldsOf(options: FetchOptions): Omit<Partial<FetchRequest>, 'site' | 'endpoint' | 'params'> {
    const { dryRun, version, maxCredits, maxResults, maxPages, cursor, partial, maxAge, timeout, connection } = options;
    return defined({
        dry_run: dryRun,
        version,
        max_credits: maxCredits,
        max_results: maxResults,
        max_pages: maxPages,
        cursor,
        partial,
        max_age: maxAge,
        timeout_ms: timeout,
        connection,
    });
}

function metaLine({ meta }: FetchAnswer): string {
    const used = `${counted(meta.credits_used, 'credit')} used, ${meta.credits_remaining?.toLocaleString('en')} left`;
    const results = meta.results === undefined ? '' : `, ${counted(meta.results, 'result')}`;
    const more = meta.truncated === true ? ' (the site has more)' : '';
    const cached = meta.cached === true ? ', a stored result' : '';
    return `${used}${results}${more}${cached}, ${meta.duration_ms} ms, version ${meta.version}, ${meta.request_id}`;
}

function dryRunLines({ data, meta }: FetchAnswer, paint: Paint): string[] {
    const {
        request,
        credits_max: max,
        then,
    } = data as unknown as {
        request: { method: string; url: string; headers: Record<string, string>; body: unknown };
        credits_max: number;
        then?: { params: unknown };
    };
    return [
        `${paint('bold', request.method)} ${request.url}`,
        ...Object.entries(request.headers).map(([name, value]) => paint('dim', `${name}: ${value}`)),
        ...(request.body === null
            ? []
            : ['', typeof request.body === 'string' ? request.body : JSON.stringify(request.body, undefined, 2)]),
        ...(then === undefined ? [] : ['', `then the form of that page, filled in with ${JSON.stringify(then.params)}`]),
        '',
        `Nothing was sent. The call would cost at most ${max.toLocaleString('en')} of your ${meta.credits_remaining?.toLocaleString('en')} credits.`,
    ];
}
