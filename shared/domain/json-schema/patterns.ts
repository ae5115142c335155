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

/** `size`: instructions of the program, what compiling it cost. */
type Compiled = { size: number } & ({ ok: true; pattern: LinearPattern } | { ok: false; fault: string; tooComplex: boolean });

/** What one package may have compiled: half a millisecond a pattern, and 2 µs an instruction. */
export interface PatternBudget {
    /** Patterns that were compiled for it, by their text. */
    seen: Set<string>;
    instructions: number;
}

const MAX_PATTERNS = 500;
const MAX_INSTRUCTIONS = 30_000;

export function openPatternBudget(): PatternBudget {
    return { seen: new Set(), instructions: 0 };
}

/** As `compilePattern`, at the expense of a budget; what does not fit into it is refused without looking. */
export function compileWithin(source: string, budget: PatternBudget): Compiled {
    if (!budget.seen.has(source) && (budget.seen.size >= MAX_PATTERNS || budget.instructions > MAX_INSTRUCTIONS)) {
        return {
            ok: false,
            fault: 'is one too many: use fewer different patterns in a package, or simpler ones',
            tooComplex: true,
            size: 0,
        };
    }
    const made = compilePattern(source);
    if (!budget.seen.has(source)) budget.instructions += made.size;
    budget.seen.add(source);
    return made;
}

const compiled = new LRUCache<string, Compiled>({ max: 500 });

/** Compiles `source`, or says in the second half of a sentence what is wrong with it. */
export function compilePattern(source: string): Compiled {
    if (source.length > MAX_PATTERN) return { ok: false, fault: `is longer than ${MAX_PATTERN} characters`, tooComplex: true, size: 0 };
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const made = compileAnew(source);
    compiled.set(source, made);
    return made;
}

function compileAnew(source: string): Compiled {
    try {
        const program = RE2JS.compile(RE2JS.translateRegExp(source));
        const size = program.programSize();
        if (size > MAX_PROGRAM) return { ok: false, fault: 'repeats too much', tooComplex: true, size };
        return { ok: true, size, pattern: { test: (text) => program.test(text), toString: () => `/${source}/` } };
    } catch {
        const fault = 'is not valid here: patterns run on a linear-time engine, without look-around and back-references';
        return { ok: false, fault, tooComplex: false, size: 0 };
    }
}
