import { InvalidResponse } from './invalid-response.ts';
import { parseJson } from './json.ts';

/**
 * NDJSON as the JSON `{"items": […]}` of its lines, with their text as it is. Blank lines are left out.
 * @throws InvalidResponse that names the first line that is not JSON
 */
export function linesAsJson(text: string): string {
    const lines: string[] = [];
    let number = 0;
    for (let start = 0; start < text.length; ) {
        const end = text.indexOf('\n', start);
        const line = text.slice(start, end === -1 ? text.length : end).trim();
        start = end === -1 ? text.length : end + 1;
        number++;
        if (line === '') continue;
        // Only a line that is JSON by itself may be joined: `1],"a":[2` would be JSON then too.
        refuseBadLine(line, number);
        lines.push(line);
    }
    return `{"items":[${lines.join(',')}]}`;
}

/** @throws InvalidResponse */
function refuseBadLine(line: string, number: number): void {
    try {
        parseJson(line);
    } catch (error) {
        if (!(error instanceof InvalidResponse) || error.code === 'UPSTREAM_TOO_LARGE') throw error;
        throw new InvalidResponse(`Line ${number} of the answer is not well-formed JSON.`);
    }
}
