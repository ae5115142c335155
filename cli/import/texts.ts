import { isPlaceholder } from '../../shared/domain/package/rules/placeholders.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import type { Json } from '../../shared/domain/types.ts';

/** A text of a document as a package takes it: well-formed, without control characters, cut at a word; `undefined` where nothing is left, it holds a credential or is a placeholder. */
export function cleanText(value: unknown, max: number): string | undefined {
    if (typeof value !== 'string') return undefined;
    const text = value
        .toWellFormed()
        .replaceAll('\r\n', '\n')
        .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
        .trim();
    // Generated documents hold some that nobody wrote, such as `<p/>`.
    if (text === '' || isPlaceholder(text)) return undefined;
    const cut =
        text.length <= max
            ? text
            : `${text
                  .slice(0, max - 2)
                  .replace(/\s+\S*$/, '')
                  .toWellFormed()} …`;
    return findSecrets(cut) === undefined ? cut : undefined;
}

/** The same on one line. */
export function cleanLine(value: unknown, max: number): string | undefined {
    return cleanText(typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value, max);
}

/** Shortens a name from a document for a report. */
export function printableName(name: string): string {
    return cleanLine(name, 120) ?? '…';
}

/** The texts in a list; none if the value is no list. */
export function textsOf(list: Json | undefined): string[] {
    return (Array.isArray(list) ? list : []).filter((one) => typeof one === 'string');
}
