import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import { isProgramWord, personalKind } from './harmless.ts';

/** Whether an author chose this id, class or property: it consists of words, and no build tool generated it. */
export function isAuthorsName(name: string): boolean {
    if (name.length < 2 || name.length > 50 || !/^[A-Za-z][\w-]*$/.test(name) || /\d{2}/.test(name)) return false;
    const words = name.split(/[-_]+/).filter((word) => word !== '');
    return words.length <= 6 && words.every((word) => word.length === 1 || isProgramWord(word)) && findSecrets(name) === undefined;
}

/** Converts a column heading to a field name; undefined if the heading may contain data. */
export function namedByAuthor(text: string): string | undefined {
    if (text.length > 40 || /\d/.test(text) || personalKind(text) !== undefined) return undefined;
    const words = text
        .toLowerCase()
        .split(/[^a-z]+/)
        .filter((word) => word !== '');
    return words.length === 0 || words.length > 4 ? undefined : words.join('_');
}
