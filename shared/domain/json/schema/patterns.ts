import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';

/** Patterns of contributors run on re2js, in linear time. The dialect is JavaScript's without look-around and back-references. */
export interface LinearPattern {
    test(text: string): boolean;
}

/** Maximum characters of a pattern, and instructions of its program. Both bound the time for one character of text. */
export const MAX_PATTERN = 1000;
const MAX_PROGRAM = 1500;

/** `size`: number of instructions of the compiled program, which defines the cost of compiling. */
type Compiled = { size: number } & ({ ok: true; pattern: LinearPattern } | { ok: false; fault: string; tooComplex: boolean });

/** The budget of one package for compiling patterns: half a millisecond per pattern and 2 µs per instruction. */
export interface PatternBudget {
    /** The texts of patterns that were already compiled for the package. */
    seen: Set<string>;
    instructions: number;
}

export const MAX_PATTERNS = 500;
const MAX_INSTRUCTIONS = 30_000;

export function createPatternBudget(): PatternBudget {
    return { seen: new Set(), instructions: 0 };
}

/** Like `compilePattern`, within a budget. A pattern beyond the budget is rejected without compiling. */
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

/** Remaining steps of validation, each at most 50 ns: one rule applied to a value, or one pattern instruction at a character. */
export interface PatternWork {
    left: number;
}

/** The steps of one call or one package: at most 0.1 s, and many more than useful patterns and texts need. */
export function createPatternWork(): PatternWork {
    return { left: 2_000_000 };
}

export class TooMuchWork extends Error {}

let work: PatternWork | undefined;

/** Runs `check`, whose patterns use up `budget`. @throws TooMuchWork when nothing is left */
export function withinWork<T>(budget: PatternWork, check: () => T): T {
    const outer = work;
    work = budget;
    try {
        return check();
    } finally {
        work = outer;
    }
}

/**
 * Counts steps against the budget in use, if there is one. The engine is linear in the text, but some pairs of pattern and text take one
 * step for each instruction at each character.
 * @throws TooMuchWork
 */
export function spend(steps: number): void {
    if (work === undefined) return;
    if (steps > work.left) throw new TooMuchWork('the patterns take too much work');
    work.left -= steps;
}

const LOOK_AROUND = 'has a look-around, which the linear-time engine for patterns does not support';

/** Steps for compiling a pattern, equal to half a millisecond, and for each of its instructions, equal to 2 µs. */
const COMPILING = 10_000;
const COMPILING_INSTRUCTION = 40;

/** An instruction takes about 100 bytes, and the engine's tables the same amount again. */
const COMPILED_BYTES = 200;
const compiled = new LRUCache<string, Compiled>({
    max: 500,
    maxSize: 16 * 1024 * 1024,
    sizeCalculation: ({ size }, source) => 1000 + 2 * source.length + COMPILED_BYTES * size,
});

/** Compiles `source`. `fault` completes a sentence whose subject is the pattern. */
export function compilePattern(source: string): Compiled {
    if (source.length > MAX_PATTERN) return { ok: false, fault: `is longer than ${MAX_PATTERN} characters`, tooComplex: true, size: 0 };
    const known = compiled.get(source);
    if (known !== undefined) return known;
    spend(COMPILING);
    const made = compileFresh(source);
    compiled.set(source, made);
    spend(COMPILING_INSTRUCTION * made.size);
    return made;
}

function compileFresh(source: string): Compiled {
    try {
        const program = RE2JS.compile(RE2JS.translateRegExp(source));
        const size = program.programSize();
        if (size > MAX_PROGRAM) return { ok: false, fault: 'repeats too much', tooComplex: true, size };
        const test = (text: string) => {
            spend(size * text.length);
            return program.test(text);
        };
        return { ok: true, size, pattern: { test } };
    } catch (error) {
        return { ok: false, fault: faultOf(error), tooComplex: false, size: 0 };
    }
}

/** Our texts for the engine's errors, by its message and the part of the pattern where it stopped. The first matching row applies. */
const FAULTS: readonly { what: string; piece?: RegExp; fault: string }[] = [
    {
        what: 'invalid repeat count',
        fault: 'has an invalid repeat: counts must ascend and be at most 1,000, also when nested repeats are multiplied',
    },
    {
        what: 'invalid character class range',
        piece: /^\\p/i,
        fault: 'names a kind of characters that is not known here: write short names without =, such as \\p{L}, \\p{Lu} or \\p{Greek}',
    },
    {
        what: 'invalid escape sequence',
        piece: /^\\[1-9]/,
        fault: 'has a back-reference, which the linear-time engine for patterns does not support',
    },
    { what: 'invalid or unsupported Perl syntax', piece: /^\(\?[=!]/, fault: LOOK_AROUND },
    { what: 'invalid named capture', piece: /^\(\?<[=!]/, fault: LOOK_AROUND },
];

/** The messages of the engine are constants. The part of the pattern comes from the package and is not repeated. */
function faultOf(error: unknown): string {
    if (!(error instanceof RE2JSSyntaxException)) return 'is not valid here';
    const [what, stoppedAt] = [error.getDescription(), error.getPattern() ?? ''];
    return FAULTS.find((row) => row.what === what && (row.piece?.test(stoppedAt) ?? true))?.fault ?? `is not valid here: ${what}`;
}
