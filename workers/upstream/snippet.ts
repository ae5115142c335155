import { findSecrets } from '../../shared/domain/secrets-scan.ts';

/** Characters of a refusing answer that a caller is shown (CONTRACT 1.1). */
const MAX_SNIPPET = 512;

/** What is looked through: a secret that begins inside the snippet and ends behind it has to be seen whole. */
const SCANNED = 4096;

/** The beginning of a body as text for a person: on one line, without control characters and secrets, at most 512 characters. */
export function snippetOf(body: Uint8Array): string {
    // Four bytes hold every character of UTF-8: what is cut off here is behind the part that is looked through.
    const text = new TextDecoder().decode(body.subarray(0, SCANNED * 4)).slice(0, SCANNED);
    const shown = withoutSecrets(text.replace(/[\s\u0000-\u001f\u007f-\u009f\ufffd]+/g, ' ').trim());
    return shown.slice(0, MAX_SNIPPET).toWellFormed();
}

/** Word by word, and nothing at all where a secret stretches over several words. */
function withoutSecrets(text: string): string {
    if (findSecrets(text) === undefined) return text;
    const rest = text
        .split(' ')
        .map((word) => (findSecrets(word) === undefined ? word : '[removed]'))
        .join(' ');
    return findSecrets(rest) === undefined ? rest : '[removed]';
}
