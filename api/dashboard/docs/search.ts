import type { Passage } from './library.ts';

/** A passage with the text around the first match. */
interface Hit extends Passage {
    snippet: string;
}

const MAX = 20;
const AROUND = 90;

/** Finds the passages that contain all words of `q`. Passages with the words in their heading come first. */
export function searchPassages(passages: readonly Passage[], q: string): Hit[] {
    const words = [...new Set(q.toLowerCase().match(/[\p{L}\p{N}_$]+/gu))];
    if (words.length === 0) return [];
    return passages
        .map((passage) => ({ passage, score: scoreOf(passage, words) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, MAX)
        .map(({ passage }) => ({ ...passage, snippet: snippetOf(passage.text, words) }));
}

/** Scores a passage; 0 if a word is missing. A word in the heading counts more than all its matches in the text. */
function scoreOf({ heading, page, text }: Passage, words: readonly string[]): number {
    const [head, body] = [`${heading} ${page}`.toLowerCase(), text.toLowerCase()];
    if (!words.every((word) => head.includes(word) || body.includes(word))) return 0;
    const counts = words.map((word) => (head.includes(word) ? 10 : 0) + Math.min(5, body.split(word).length - 1));
    return counts.reduce((sum, count) => sum + count, 0);
}

function snippetOf(text: string, words: readonly string[]): string {
    const lower = text.toLowerCase();
    const hits = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
    const from = Math.max(0, Math.min(...hits, text.length) - AROUND);
    const cut = text.slice(from, from + 2 * AROUND);
    return `${from > 0 ? '… ' : ''}${cut.toWellFormed()}${from + cut.length < text.length ? ' …' : ''}`;
}
