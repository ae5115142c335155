import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';

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
export const MAX_PATTERN = 1000;
const MAX_PROGRAM = 1500;

/** `size`: instructions of the program, what compiling it cost. */
type Compiled = { size: number } & ({ ok: true; pattern: LinearPattern } | { ok: false; fault: string; tooComplex: boolean });

/** What one package may have compiled: half a millisecond a pattern, and 2 µs an instruction. */
export interface PatternBudget {
    /** Patterns that were compiled for it, by their text. */
    seen: Set<string>;
    instructions: number;
}

export const MAX_PATTERNS = 500;
const MAX_INSTRUCTIONS = 30_000;

/** The whole budget of one package. */
export function createPatternBudget(): PatternBudget {
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

/** What judging may still cost, in steps of at the worst 50 ns: a rule that is held against a value, an instruction of a pattern at a character. */
export interface PatternWork {
    left: number;
}

/** One call's or one package's share: 0.1 s at the worst, and far more than patterns and texts of any use need. */
export function createPatternWork(): PatternWork {
    return { left: 2_000_000 };
}

export class TooMuchWork extends Error {}

let work: PatternWork | undefined;

/** Runs `judge`, whose patterns spend what is left of `budget`. @throws TooMuchWork when it is used up */
export function withinWork<T>(budget: PatternWork, judge: () => T): T {
    const outer = work;
    work = budget;
    try {
        return judge();
    } finally {
        work = outer;
    }
}

/**
 * Charges steps of judging to the work that is under way, if there is one. Of patterns: the engine is linear in the text, but some pairs
 * of pattern and text take a step for each instruction at each character.
 * @throws TooMuchWork
 */
export function spend(steps: number): void {
    if (work === undefined) return;
    if (steps > work.left) throw new TooMuchWork('the patterns take too much work');
    work.left -= steps;
}

const LOOK_AROUND = 'looks around, and patterns run on a linear-time engine without look-around';

/** Steps that compiling a pattern takes, and for each instruction of it: half a millisecond and 2 µs. */
const COMPILING = 10_000;
const COMPILING_INSTRUCTION = 40;

/** An instruction takes about 100 bytes, and the engine's own tables as many again. */
const COMPILED_BYTES = 200;
const compiled = new LRUCache<string, Compiled>({
    max: 500,
    maxSize: 16 * 1024 * 1024,
    sizeCalculation: ({ size }, source) => 1000 + 2 * source.length + COMPILED_BYTES * size,
});

/** Compiles `source`, or says in the second half of a sentence what is wrong with it. */
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
        return { ok: true, size, pattern: { test, toString: () => `/${source}/` } };
    } catch (error) {
        return { ok: false, fault: faultOf(error), tooComplex: false, size: 0 };
    }
}

/** What the engine says of a pattern and of the piece of it that it stopped at. The first row that fits is the answer. */
const FAULTS: readonly { what: string; piece?: RegExp; fault: string }[] = [
    {
        what: 'invalid repeat count',
        fault: 'has a repeat that is not taken: counts go from the lesser to the greater, up to 1,000, repeats inside repeats multiplied',
    },
    {
        what: 'invalid character class range',
        piece: /^\\p/i,
        fault: 'names a kind of characters that is not known here: write short names without =, such as \\p{L}, \\p{Lu} or \\p{Greek}',
    },
    { what: 'invalid escape sequence', piece: /^\\[1-9]/, fault: 'has a back-reference, and patterns run on a linear-time engine without' },
    { what: 'invalid or unsupported Perl syntax', piece: /^\(\?[=!]/, fault: LOOK_AROUND },
    { what: 'invalid named capture', piece: /^\(\?<[=!]/, fault: LOOK_AROUND },
];

/** The engine's own words are fixed ones; the piece comes out of the package and is not repeated. */
function faultOf(error: unknown): string {
    if (!(error instanceof RE2JSSyntaxException)) return 'is not valid here';
    const [what, stoppedAt] = [error.getDescription(), error.getPattern() ?? ''];
    return FAULTS.find((row) => row.what === what && (row.piece?.test(stoppedAt) ?? true))?.fault ?? `is not valid here: ${what}`;
}
