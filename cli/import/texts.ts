import { listOf } from '../../shared/domain/json/schema/structure.ts';
import { isPlaceholderText } from '../../shared/domain/package/rules/placeholder-texts.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import type { Json } from '../../shared/domain/types.ts';

/**
 * Cleans a text of a document for a package: well-formed, without control characters, cut at a word. `undefined` if it is empty or a
 * placeholder, or contains a credential.
 */
export function cleanText(value: unknown, max: number): string | undefined {
    if (typeof value !== 'string') return undefined;
    const text = value
        .toWellFormed()
        .replaceAll('\r\n', '\n')
        .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
        .trim();
    // Generated documents contain meaningless texts such as `<p/>`.
    if (text === '' || isPlaceholderText(text)) return undefined;
    const cut =
        text.length <= max
            ? text
            : `${text
                  .slice(0, max - 2)
                  .replace(/\s+\S*$/, '')
                  .toWellFormed()} …`;
    return findSecrets(cut) === undefined ? cut : undefined;
}

/** Like `cleanText`, on one line. */
export function cleanLine(value: unknown, max: number): string | undefined {
    return cleanText(typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value, max);
}

/** Shortens a name from a document for a report. */
export function printableName(name: string): string {
    return cleanLine(name, 120) ?? '…';
}

/** The texts in a list; none if the value is no list. */
export function textsOf(list: Json | undefined): string[] {
    return listOf(list).filter((one) => typeof one === 'string');
}
