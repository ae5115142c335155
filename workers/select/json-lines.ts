import { InvalidResponse } from './invalid-response.ts';
import { parseJson } from './json.ts';

/**
 * NDJSON as the JSON `{"items": […]}` of its lines, with their text as it is. Blank lines are left out.
 * @throws InvalidResponse that names the first line that is not JSON
 */
export function linesAsJson(text: string): string {
    return joinJson(linesOf(text));
}

/** A value of JSON, and what a message calls it. */
interface Named {
    text: string;
    name: string;
}

function* linesOf(text: string): Generator<Named> {
    let number = 0;
    for (let start = 0; start < text.length; ) {
        const end = text.indexOf('\n', start);
        const line = text.slice(start, end === -1 ? text.length : end).trim();
        start = end === -1 ? text.length : end + 1;
        number++;
        if (line !== '') yield { text: line, name: `Line ${number}` };
    }
}

/** The JSON `{"items": […]}` of texts that are JSON each. @throws InvalidResponse that names the first one that is not */
export function joinJson(values: Iterable<Named>): string {
    const items: string[] = [];
    for (const value of values) {
        // Only a text that is JSON by itself may be joined: `1],"a":[2` would be JSON then too.
        refuseBad(value);
        items.push(value.text);
    }
    return `{"items":[${items.join(',')}]}`;
}

/** @throws InvalidResponse */
function refuseBad({ text, name }: Named): void {
    try {
        parseJson(text);
    } catch (error) {
        if (!(error instanceof InvalidResponse) || error.code === 'UPSTREAM_TOO_LARGE') throw error;
        throw new InvalidResponse(`${name} of the answer is not well-formed JSON.`);
    }
}
