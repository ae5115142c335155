import type { FindMeta } from '../../shared/contracts/endpoints.ts';
import { defined } from '../../shared/domain/defined.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { shellWord } from '../../shared/domain/text/shell-word.ts';
import { paragraph } from '../../shared/platform/table.ts';
import type { EndpointsQuery, FoundEndpoint } from '../client/index.ts';
import { commandLines } from '../command-lines.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

interface FindOptions {
    category?: string;
    effect?: NonNullable<EndpointsQuery['effect']>;
    site?: string;
    verified?: true;
    limit: number;
    cursor?: string;
}

/** `routebook find TASK`: lists matching endpoints of all sites, best first, each with the command that calls it. */
export async function findEndpoints({ client, terminal }: Session, task: string, options: FindOptions): Promise<Done> {
    // Global options are not part of the query.
    const { category, effect, site, verified, limit, cursor } = options;
    const progress = terminal.progress('looking');
    const { data, meta } = await client()
        .find(task, defined({ category, effect, site, verified, limit, cursor }))
        .finally(() => progress.end());
    const { total, next_cursor } = meta.pagination;
    const result = { endpoints: data, total, next_cursor, session_id: meta.session_id ?? null, suggestion: meta.suggestion ?? null };
    if (data.length === 0) return { result, lines: nothingFound(meta.suggestion, terminal) };
    const lines = data.flatMap((found, place) => [...(place === 0 ? [] : ['']), ...linesOf(found, terminal)]);
    if (next_cursor === null) return { result, lines };
    return { result, lines, hint: `${data.length} of ${total}; --cursor ${next_cursor} continues from here` };
}

/** @param suggestion absent for a task that looks like it has a secret */
function nothingFound(suggestion: FindMeta['suggestion'], terminal: Terminal): string[] {
    if (suggestion === undefined) return ['No registered endpoint matches.'];
    const { domain = 'DOMAIN', task } = suggestion.request;
    const command = [`${PROGRAM} request ${String(domain)}`, `--task ${shellWord(String(task))}`];
    return ['No registered endpoint matches. Request one with:', ...commandLines(command, terminal)];
}

function linesOf(
    {
        site,
        endpoint,
        description,
        effect,
        required,
        credits,
        billing_unit,
        verified,
        needs_connection: needs,
        hosted,
        fetch,
    }: FoundEndpoint,
    terminal: Terminal,
) {
    const { paint, tableWidth } = terminal;
    const nameWidth = Math.max(0, ...required.map(({ name }) => name.length));
    const price = hosted ? `${counted(credits, 'credit')} a ${billing_unit}` : 'not hosted: call it yourself';
    const facts = [
        price,
        ...(verified ? [paint('green', 'verified')] : []),
        ...(effect === 'write' ? [paint('yellow', 'write')] : []),
        ...(needs ? [paint('yellow', 'needs a connection')] : []),
    ];
    return [
        `${paint('bold', site)} ${paint('cyan', endpoint)}  ${facts.join(', ')}`,
        ...(description === '' ? [] : paragraph('  ', description, tableWidth)),
        ...required.flatMap(({ name, type, description: about }) => {
            return paragraph(`    ${name.padEnd(nameWidth)}  ${paint('dim', type)}  `, about, tableWidth, nameWidth + 6);
        }),
        ...(fetch === null ? [] : commandLines(commandOf(fetch), terminal, `  ${paint('dim', '$')} `)),
    ];
}

/** The command that calls an endpoint. Its params may be broken between two of them. */
function commandOf({ site, endpoint, params, dry_run: isDry }: NonNullable<FoundEndpoint['fetch']>): string[] {
    const given = Object.entries(params).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return [
        `${PROGRAM} fetch ${site} ${endpoint}`,
        ...(given.length === 0 ? [] : [`--params ${shellWord(`{${given.join(',\n')}}`)}`]),
        ...(isDry === true ? ['--dry-run'] : []),
    ];
}
