import { expect } from 'chai';
import { compilePattern } from '../../shared/domain/json/schema/patterns.ts';
import { hostileTexts, productPatterns, SLOW_ELSEWHERE } from '../support/patterns.ts';

const LIMIT_MS = 5;

/** The minimum CPU time of this thread over some attempts, in milliseconds. Other load and first-time compilation do not count. */
function costOf(work: () => unknown): number {
    let least = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 5 && least > LIMIT_MS && (tries === 0 || least < 20 * LIMIT_MS); tries++) {
        const before = process.threadCpuUsage();
        work();
        const { user, system } = process.threadCpuUsage(before);
        least = Math.min(least, (user + system) / 1000);
    }
    return least;
}

function costOn(text: string, pattern: RegExp): number {
    const ms = costOf(() => (pattern.global ? text.replaceAll(pattern, '') : pattern.test(text)));
    pattern.lastIndex = 0;
    return ms;
}

/**
 * What one pattern takes on one text, if that is too long.
 * On a busy machine the limit counts only where half of the text takes less than a third of the time, three times in a row: the
 * time is not linear there.
 */
function excessOf(text: string, pattern: RegExp): number | undefined {
    let ms = 0;
    for (let tries = 0; tries < 3; tries++) {
        ms = costOn(text, pattern);
        if (ms <= LIMIT_MS || (ms <= 20 * LIMIT_MS && ms < 3 * costOn(text.slice(text.length / 2), pattern))) return undefined;
    }
    return ms;
}

describe('regular expressions', () => {
    it('end within 5 ms on 100 KB of text that is made to slow them down (I7)', async () => {
        const patterns = await productPatterns();
        expect(patterns.length).to.be.above(100);
        const slow: string[] = [];
        for (const { file, pattern } of patterns) {
            for (const text of hostileTexts(pattern)) {
                const ms = excessOf(text, pattern);
                if (ms === undefined) continue;
                slow.push(`${file}: ${pattern} took ${Math.round(ms)} ms on ${JSON.stringify(text.slice(0, 30))}…`);
                break;
            }
        }
        expect(slow).to.deep.equal([]);
    });

    it('of packages take about twice the time for twice the text (I7)', () => {
        for (const source of SLOW_ELSEWHERE) {
            const compiled = compilePattern(source);
            if (!compiled.ok) continue;
            const timeOf = (length: number) => costOf(() => compiled.pattern.test(`${'a'.repeat(length)}!`));
            timeOf(10_000);
            expect(timeOf(100_000), source).to.be.below(20 * Math.max(1, timeOf(50_000)));
        }
    });
});
