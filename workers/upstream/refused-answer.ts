import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';

/** Characters of an error answer that callers see (docs/api.md, "Errors"). */
const MAX_SNIPPET = 512;

/** Characters to scan. A secret that begins inside the snippet may end behind it. */
const SCANNED = 4096;

/**
 * The beginning of a body as readable text: one line without control characters and secrets, at most 512 characters.
 * @param mask hides other texts that must not be shown
 */
export function snippetOf(body: Uint8Array, mask: (text: string) => string = (text) => text): string {
    // A UTF-8 character has at most four bytes, so the cut is behind the scanned part.
    const text = mask(new TextDecoder().decode(body.subarray(0, SCANNED * 4))).slice(0, SCANNED);
    const shown = withoutSecrets(text.replace(/[\s\u0000-\u001f\u007f-\u009f\ufffd]+/g, ' ').trim());
    return shown.slice(0, MAX_SNIPPET).toWellFormed();
}

/** Removes secrets word by word, or the whole text if a secret spans several words. */
function withoutSecrets(text: string): string {
    if (findSecrets(text) === undefined) return text;
    const rest = text
        .split(' ')
        .map((word) => (findSecrets(word) === undefined ? word : '[removed]'))
        .join(' ');
    return findSecrets(rest) === undefined ? rest : '[removed]';
}
