import { InvalidResponse } from './invalid-response.ts';
import { parseJson } from './json.ts';

/** Begins each text of a JSON sequence (RFC 7464), which may have several lines. */
const SEPARATOR = '\u001e';

/**
 * NDJSON as the JSON `{"items": […]}` of its lines, or of the texts of a JSON sequence, with their text unchanged. Skips blank ones.
 * @throws InvalidResponse that names the first one that is not JSON
 */
export function linesAsJson(text: string): string {
    return joinJson(text.startsWith(SEPARATOR) ? partsOf(text.slice(1), SEPARATOR, 'Text') : partsOf(text, '\n', 'Line'));
}

/** The text of a JSON value, and its name for error messages. */
interface Named {
    text: string;
    name: string;
}

function* partsOf(text: string, separator: string, name: string): Generator<Named> {
    let number = 0;
    for (let start = 0; start < text.length; ) {
        const end = text.indexOf(separator, start);
        const part = text.slice(start, end === -1 ? text.length : end).trim();
        start = end === -1 ? text.length : end + 1;
        number++;
        if (part !== '') yield { text: part, name: `${name} ${number}` };
    }
}

/** Joins JSON texts into `{"items": […]}`. @throws InvalidResponse that names the first text that is not JSON */
export function joinJson(values: Iterable<Named>): string {
    const items: string[] = [];
    for (const value of values) {
        // Each text must be JSON by itself: `1],"a":[2` would be valid JSON after joining.
        refuseBad(value);
        items.push(value.text);
    }
    return `{"items":[${items.join(',')}]}`;
}

function refuseBad({ text, name }: Named): void {
    try {
        parseJson(text);
    } catch (error) {
        if (!(error instanceof InvalidResponse) || error.code === 'UPSTREAM_TOO_LARGE') throw error;
        throw new InvalidResponse(`${name} of the answer is not well-formed JSON.`);
    }
}
