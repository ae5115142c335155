import { on } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface ProductPattern {
    file: string;
    pattern: RegExp;
}

/** Every pattern in the code that callers, sites and packages can reach: literals, and patterns that are built while a module loads. */
export async function productPatterns(): Promise<ProductPattern[]> {
    const files = ['api', 'shared', 'workers'].flatMap((folder) =>
        readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
            .filter((path) => path.endsWith('.ts'))
            .map((path) => `${folder}/${path}`),
    );
    const literals = files.flatMap((file) => literalsOf(readFileSync(ROOT + file, 'utf8')).map((pattern) => ({ file, pattern })));
    const made = await patternsMade(files.map((file) => ROOT + file));
    return [...literals, ...made.map(([file, source, flags]) => ({ file, pattern: new RegExp(source, flags) }))];
}

/** Loads these files in a thread. Those that are the start of a thread send messages of their own, which are ignored. */
async function patternsMade(files: string[]): Promise<[file: string, source: string, flags: string][]> {
    const recorder = new Worker(new URL('pattern-recorder.ts', import.meta.url), { workerData: files, stdout: true });
    try {
        for await (const [message] of on(recorder, 'message')) {
            if (Array.isArray(message)) return message as [string, string, string][];
        }
        throw new Error('the thread ended without its list of patterns');
    } finally {
        await recorder.terminate();
    }
}

/** The pattern literals of a source file. The text before a slash distinguishes them from a division. */
function literalsOf(source: string): RegExp[] {
    const found: RegExp[] = [];
    const TOKEN =
        /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=(?:[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|\bof|\bin)\s*)\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;
    for (const [, body, flags] of source.matchAll(TOKEN)) if (body !== undefined) found.push(new RegExp(body, flags));
    return found;
}

/** Patterns of packages on which engines that backtrack run for years, with a text of many `a`. */
export const SLOW_ELSEWHERE = [
    '^(a+)+$',
    '^(a|aa)+$',
    '(.*)(.*)(.*)(.*)(.*)[^a]$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(?:a?){500}[bc]$',
    '(x+x+)+y',
];

const LENGTH = 100_000;

/** Texts of 100 KB that try to make this pattern slow: repeated matching parts, and texts that almost match. */
export function hostileTexts({ source }: RegExp): string[] {
    const pieces = new Set([...'aZ09 _-./:"\'=<>,;@%+\\\t\n', ...(source.match(/[\w<>/="'-]{2,}/g) ?? [])]);
    // Texts that match up to some point and then fail: the pattern's own texts one after the other, each time one more.
    const words = source.replaceAll(/\[\^?\]?[^\]]*\]|\\[a-zA-Z]|\{\d+,?\d*\}|\(\?[:=!<]+/g, '|').split(/[()|*+?^$]+/);
    const texts = words.map((word) => word.replaceAll('\\', '')).filter((word) => word !== '');
    for (let count = 1; count <= Math.min(8, texts.length); count++) pieces.add(texts.slice(0, count).join(''));
    const runs = [...pieces].flatMap((piece) => [piece, `${piece} `, `${piece}a`, `${piece}"`, `<${piece}`]);
    return runs.map((run) => `${run.repeat(Math.ceil(LENGTH / run.length)).slice(0, LENGTH - 1)}!`);
}
