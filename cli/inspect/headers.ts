import type { BodyFormat } from '../../shared/domain/types.ts';
import { isProgramWord } from './harmless.ts';

type Sent = ReadonlyMap<string, { sendings: number; value: string | undefined }>;

/** The browser's own headers, and what only measures or traces. */
const NEVER =
    /^x-(?:csrf|xsrf|request|trace|b3|amzn|datadog|newrelic|sentry|client-data|real|forwarded|correlation|device|visitor|browser|timezone|viewport)/;

/** The value of a header as a package may hold it, or `undefined` where a program's author did not write it or it does not matter. */
export function fixedHeader(name: string, value: string): string | undefined {
    if (name === 'accept') return /^application\/[\w.+-]*\+(?:json|xml)(?:;\s?[\w-]+=[\w.-]+)*$/.test(value) ? value : undefined;
    if (name === 'content-type') return /^application\/[\w.-]+\+json$/.test(value) ? value : undefined;
    if (name === 'x-requested-with') return value === 'XMLHttpRequest' ? value : undefined;
    if (!/^(?:x-|api-|accept-version$)/.test(name) || NEVER.test(name) || value.length > 60) return undefined;
    if (/version/.test(name) && /^v?\d{1,4}(?:[.-]\d{1,3}){0,3}$/.test(value)) return value;
    return isProgramWord(value) ? value : undefined;
}

/** Adds one header as it was sent; of one that had two values none is kept. @param sent `value` as `fixedHeader` gives it */
export function addHeader(
    headers: Map<string, { sendings: number; value: string | undefined }>,
    name: string,
    sent: { sendings: number; value: string | undefined },
): void {
    const known = headers.get(name);
    if (known === undefined) {
        if (sent.value !== undefined) headers.set(name, { ...sent });
        return;
    }
    known.sendings += sent.sendings;
    if (known.value !== sent.value) known.value = undefined;
}

/** Headers that every sending carried with one value: those with a meaning of their own at once, others when seen three times. */
export function headersOf(sent: Sent, sendings: number, body: BodyFormat | undefined): Record<string, string> {
    const kept: Record<string, string> = {};
    for (const [name, { sendings: seen, value }] of sent) {
        const isKnown = name === 'accept' || name === 'content-type' || name === 'x-requested-with' || /version/.test(name);
        if (value === undefined || seen < sendings || (!isKnown && seen < 3)) continue;
        if (name !== 'content-type' || body === 'json') kept[name] = value;
    }
    return kept;
}
