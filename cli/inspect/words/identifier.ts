import { wordsOf } from './harmless.ts';

/** Converts a text to letters, digits and underscores, beginning with a letter; '' if nothing remains. */
export function identifier(text: string): string {
    return wordsOf(text)
        .join('_')
        .replace(/^[\d_]+/, '')
        .slice(0, 60);
}
