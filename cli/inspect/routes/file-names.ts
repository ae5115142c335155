/** A file without a suffix is often written in capitals (`README`). */
export function isFileName(word: string): boolean {
    return /^[A-Z]{4,}$|.\.[a-z]{1,5}$/.test(word);
}

/** Whether words are names of files: not all have the same suffix. The pages of a program have one suffix (`edit.php`, `view.php`). */
export function areFiles(words: readonly string[]): boolean {
    const suffixes = new Set(words.map((word) => /\.[a-z]+$/.exec(word)?.[0]));
    return words.every(isFileName) && (suffixes.has(undefined) || suffixes.size > 1);
}
