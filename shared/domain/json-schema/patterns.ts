import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/**
 * Patterns that strangers wrote, on an engine whose time grows with the text's length only (re2js): there is no pattern on which
 * it backtracks. The dialect is JavaScript's without look-around and back-references.
 */
export interface LinearPattern {
    test(text: string): boolean;
    /** Ajv tells patterns apart by it. */
    toString(): string;
}

/** Characters of a pattern, and instructions of the program that it becomes: both bound the time for one character of text. */
const MAX_PATTERN = 1000;
const MAX_PROGRAM = 1500;

type Compiled = { ok: true; pattern: LinearPattern } | { ok: false; fault: string; tooComplex: boolean };

const compiled = new LRUCache<string, Compiled>({ max: 500 });

/** Compiles `source`, or says in the second half of a sentence what is wrong with it. */
export function compilePattern(source: string): Compiled {
    if (source.length > MAX_PATTERN) return { ok: false, fault: `is longer than ${MAX_PATTERN} characters`, tooComplex: true };
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const made = compileAnew(source);
    compiled.set(source, made);
    return made;
}

function compileAnew(source: string): Compiled {
    try {
        const program = RE2JS.compile(RE2JS.translateRegExp(source));
        if (program.programSize() > MAX_PROGRAM) return { ok: false, fault: 'repeats too much', tooComplex: true };
        return { ok: true, pattern: { test: (text) => program.test(text), toString: () => `/${source}/` } };
    } catch {
        const fault = 'is not valid here: patterns run on a linear-time engine, without look-around and back-references';
        return { ok: false, fault, tooComplex: false };
    }
}
