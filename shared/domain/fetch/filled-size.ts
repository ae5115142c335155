import { getOrMake } from '../get-or-make.ts';
import type { Endpoint, Json, Values } from '../types.ts';
import { placeholderIn } from './body-template.ts';
import { extractOf } from './prepared-values.ts';
import { isTextFormat, textPlaceholders } from './text-template.ts';

/** Maximum number of characters that the values of a call may fill into all templates of an endpoint. */
const MAX_FILLED = 4 * 1024 * 1024;
/** A character in a URL can become nine characters when it is encoded. */
const IN_URL = 8;
/** Assumed length of a value that `prepare` extracts. */
const PREPARED = 1024;

const IN_URLS = /\{((?:prepare\.)?[A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

/** How often each name appears in the templates. URLs have a higher weight. */
type Places = ReadonlyMap<string, number>;

const known = new WeakMap<Endpoint, Places>();

/** Whether the values would make the request disproportionately large. A template may repeat a placeholder thousands of times. */
export function exceedsFilledSize(endpoint: Endpoint, values: Values): boolean {
    const places = getOrMake(known, endpoint, () => placesOf(endpoint));
    let filled = 0;
    for (const [name, count] of places) {
        filled += count * (extractOf(name) !== undefined ? PREPARED : Object.hasOwn(values, name) ? sizeOf(values[name] ?? null) : 0);
        if (filled > MAX_FILLED) return true;
    }
    return false;
}

function sizeOf(value: Json): number {
    return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

/** Omits names that appear only once. A value that is sent once is as long as the caller made it. */
function placesOf({ url, prepare = [], body, bodyFormat }: Endpoint): Places {
    const places = new Map<string, number>();
    const add = (name: string, weight: number) => places.set(name, (places.get(name) ?? 0) + weight);
    for (const template of [url, ...prepare.map((step) => step.url)])
        for (const [, name = ''] of template.matchAll(IN_URLS)) add(name, IN_URL);
    const names = typeof body === 'string' && isTextFormat(bodyFormat) ? textPlaceholders(body) : namesIn(body ?? null);
    for (const name of names) add(name, 1);
    return new Map([...places].filter(([, count]) => count > 1));
}

function* namesIn(template: Json): Generator<string> {
    if (typeof template === 'string') {
        const name = placeholderIn(template);
        if (name !== undefined) yield name;
    } else if (typeof template === 'object' && template !== null) {
        for (const part of Object.values(template)) yield* namesIn(part);
    }
}
