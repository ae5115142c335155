import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import type { Effect, Json, JsonObject } from '../../../shared/domain/types.ts';

/** A fetch as it is written in a terminal, in programs and by an agent; each works as it stands. */
export interface CallCode {
    curl: string;
    javascript: string;
    python: string;
    /** The arguments of the MCP tool. */
    mcp: { tool: string; text: string };
    /** It sends nothing: the endpoint changes something at the site. */
    isDryRun: boolean;
}

export interface CopiedCall {
    base: string;
    site: string;
    endpoint: string;
    effect: Effect;
    params: JsonObject;
    maxResults?: number;
}

/** Longer calls are left out: pages have many. */
const LONGEST = 2000;

/** Undefined where the params are long. */
export function copyAs({ base, site, endpoint, effect, params, maxResults }: CopiedCall): CallCode | undefined {
    const isDryRun = effect === 'write';
    const order = { site, endpoint, params, ...(maxResults === undefined ? {} : { max_results: maxResults }) };
    const body: JsonObject = isDryRun ? { ...order, dry_run: true } : order;
    const { text, isWhole } = writeJson(body, LONGEST);
    if (!isWhole) return undefined;
    const [, , ...others] = Object.entries(body);
    return {
        isDryRun,
        curl: `curl -s ${base}/v1/fetch -H "Authorization: Bearer $ROUTEBOOK_API_KEY" -H 'Content-Type: application/json' -d '${text.replaceAll("'", `'\\''`)}'`,
        javascript: `import { Routebook } from 'routebook/client';

const routebook = new Routebook({ baseUrl: '${base}', apiKey: process.env.ROUTEBOOK_API_KEY ?? '' });
const { data } = await routebook.fetch(${JSON.stringify(body, undefined, 4)});
console.log(data);`,
        python: `import os
from routebook import Routebook

routebook = Routebook("${base}", api_key=os.environ["ROUTEBOOK_API_KEY"])
answer = routebook.fetch(${[pythonOf(site), pythonOf(endpoint), ...others.map(([name, value]) => `${name}=${pythonOf(value)}`)].join(', ')})
print(answer["data"])`,
        mcp: { tool: isDryRun ? 'price_fetch' : 'fetch', text: JSON.stringify(order, undefined, 4) },
    };
}

/** A value as Python writes it: its strings take what JSON escapes. */
function pythonOf(value: Json): string {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
    if (typeof value === 'object')
        return `{${Object.entries(value)
            .map(([name, one]) => `${JSON.stringify(name)}: ${pythonOf(one)}`)
            .join(', ')}}`;
    return JSON.stringify(value);
}
