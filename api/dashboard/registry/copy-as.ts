import { readFileSync } from 'node:fs';
import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import { shellWord } from '../../../shared/domain/text/shell-word.ts';
import type { Effect, Json, JsonObject } from '../../../shared/domain/types.ts';

/** Code of a fetch to copy, for the terminal, programs and agents. */
export interface CallCode {
    curl: string;
    javascript: string;
    python: string;
    mcp: { tool: string; text: string };
    /** Whether the code is only a dry run, since the endpoint changes something at the site. */
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

/** Maximum number of characters of a request body. Longer calls are left out, since a page has many. */
const MAX_LENGTH = 2000;

/** Builds the code of a call. Undefined if the params are too long. */
export function copyAs({ base, site, endpoint, effect, params, maxResults }: CopiedCall): CallCode | undefined {
    const isDryRun = effect === 'write';
    const order = { site, endpoint, params, ...(maxResults === undefined ? {} : { max_results: maxResults }) };
    const body: JsonObject = isDryRun ? { ...order, dry_run: true } : order;
    const { text, isWhole } = writeJson(body, MAX_LENGTH);
    if (!isWhole) return undefined;
    return {
        isDryRun,
        curl: `curl -s ${base}/v1/fetch -H "Authorization: Bearer $ROUTEBOOK_API_KEY" -H 'Content-Type: application/json' -d ${shellWord(text)}`,
        javascript: programIn('javascript', base, JSON.stringify(body, undefined, 4)),
        python: programIn('python', base, pythonOf(body)),
        mcp: { tool: isDryRun ? 'price_fetch' : 'fetch', text: JSON.stringify(order, undefined, 4) },
    };
}

function programIn(language: keyof typeof PROGRAMS, base: string, call: string): string {
    return PROGRAMS[language].replace('{base}', () => base).replace('{call}', () => call);
}

/** Program templates that need no package, with placeholders for our URL and the call. */
const PROGRAMS = { javascript: readProgram('javascript'), python: readProgram('python') };

function readProgram(language: string): string {
    return readFileSync(new URL(`../../../shared/data/calls/${language}.txt`, import.meta.url), 'utf8').trimEnd();
}

/** A value as Python code. JSON's string escapes are valid in Python too. */
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
