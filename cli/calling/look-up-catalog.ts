import { counted } from '../../shared/domain/text/counted.ts';
import { paragraph } from '../../shared/platform/table.ts';
import type { CatalogAnswer, CatalogEndpoint, CatalogParam } from '../client/index.ts';
import { wrongUsage } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Terminal } from '../terminal.ts';

/** `routebook catalog DOMAIN INTENT`: lists every endpoint of a site, best matches of the intent first. */
export async function lookUpCatalog(
    { client, terminal }: Session,
    domain: string,
    words: string | readonly [],
    { intent = words.toString() }: { intent?: string },
): Promise<Done> {
    if (intent === '') throw wrongUsage(`Say what you want to do: ${PROGRAM} catalog ${domain} --intent 'find a product by its name'`);
    const progress = terminal.progress(`looking ${domain} up`);
    const answer = await client()
        .catalog(domain, { intent })
        .finally(() => progress.end());
    return { result: answer, lines: catalogLines(answer, terminal) };
}

function catalogLines({ domain, session_id, schema, endpoints }: CatalogAnswer, terminal: Terminal): string[] {
    const { paint } = terminal;
    const state = schema.verified ? paint('green', 'verified') : paint('yellow', 'not verified');
    const claim =
        schema.claim === 'unproven' ? paint('yellow', 'maintained by a contributor, not by the site') : `maintained by its ${schema.claim}`;
    const { refused_by_owner: refused = 0 } = schema;
    return [
        `${paint('bold', domain)} version ${schema.version}, ${state}  ${paint('dim', session_id)}`,
        `${claim}; calls ${schema.hosts.join(', ')}`,
        ...(refused === 0 ? [] : [paint('yellow', `${counted(refused, 'more endpoint')} not allowed by the site's owner`)]),
        ...endpoints.flatMap((endpoint) => ['', ...endpointLines(endpoint, terminal)]),
    ];
}

function endpointLines(endpoint: CatalogEndpoint, { paint, tableWidth }: Terminal): string[] {
    const { name, method, url, description, params, headers, health, effect, auth } = endpoint;
    const marks = [
        ...(effect === 'write' ? ['write'] : []),
        ...(auth === 'none' ? [] : [auth === 'required' ? 'needs a connection' : 'takes a connection']),
    ];
    const nameWidth = Math.max(0, ...params.map((param) => param.name.length));
    return [
        [paint('cyan', name), priceOf(endpoint), ...marks.map((mark) => paint('yellow', mark))].join('  '),
        `  ${method} ${url}`,
        ...(description === '' ? [] : paragraph('  ', description, tableWidth)),
        ...Object.entries(headers).map(([header, value]) => `  ${paint('dim', `${header}: ${value}`)}`),
        ...params.flatMap((param) => {
            const head = `    ${param.name.padEnd(nameWidth)}  ${paint('dim', param.source.padEnd(6))}  `;
            return paragraph(head, aboutParam(param), tableWidth, nameWidth + 6);
        }),
        ...(health.success_rate_7d === null
            ? []
            : [paint('dim', `  ${(health.success_rate_7d * 100).toFixed(1)} % of the week's calls succeeded`)]),
    ];
}

function priceOf({ hosted, credits, credits_max: max, billing, pagination }: CatalogEndpoint): string {
    if (!hosted) return 'not hosted: call it yourself';
    const unit = billing.unit === 'request' && pagination !== null ? 'page' : billing.unit;
    return `${counted(credits, 'credit')} a ${unit}${max > credits ? `, up to ${max}` : ''}`;
}

function aboutParam({ required, schema, default: fallback, description }: CatalogParam): string {
    const type = typeof schema === 'object' && typeof schema['type'] === 'string' ? schema['type'] : 'any';
    const need =
        required && fallback === undefined ? 'required' : fallback === undefined ? 'optional' : `default ${JSON.stringify(fallback)}`;
    return `${type}, ${need}${description === '' ? '' : `: ${description}`}`;
}
