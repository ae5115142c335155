import { wordsOf } from './harmless.ts';

/** Letters, digits and underscores, beginning with a letter; '' where nothing is left. */
export function identifier(text: string): string {
    return wordsOf(text)
        .join('_')
        .replace(/^[\d_]+/, '')
        .slice(0, 60);
}
