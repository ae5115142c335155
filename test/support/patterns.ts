import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ProductPattern {
    file: string;
    pattern: RegExp;
}

/** Every pattern of what callers, sites and packages can reach: those written as literals, and those put together when a module loads. */
export async function productPatterns(): Promise<ProductPattern[]> {
    const files = ['api', 'shared', 'workers'].flatMap((folder) =>
        readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
            .filter((path) => path.endsWith('.ts'))
            .map((path) => `${folder}/${path}`),
    );
    const literals = files.flatMap((file) => literalsOf(readFileSync(ROOT + file, 'utf8')).map((pattern) => ({ file, pattern })));
    // Threads' own files would wait for their first task.
    const loaded = files.filter((file) => !/\/thread-/.test(file)).map((file) => ROOT + file);
    const recorder = new Worker(new URL('pattern-recorder.ts', import.meta.url), { workerData: loaded, stdout: true });
    const [made] = (await once(recorder, 'message')) as [[string, string, string][]];
    await recorder.terminate();
    return [...literals, ...made.map(([file, source, flags]) => ({ file, pattern: new RegExp(source, flags) }))];
}

/** Patterns that stand in a source file between slashes; told from division by what stands before them. */
function literalsOf(source: string): RegExp[] {
    const found: RegExp[] = [];
    const TOKEN =
        /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=(?:[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|\bof|\bin)\s*)\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;
    for (const [, body, flags] of source.matchAll(TOKEN)) if (body !== undefined) found.push(new RegExp(body, flags));
    return found;
}

const LENGTH = 100_000;

/** Texts of 100 KB that were made to be slow for this pattern: what it looks for, again and again, in pieces and almost whole. */
export function hostileTexts({ source }: RegExp): string[] {
    const pieces = new Set([...'aZ09 _-./:"\'=<>,;@%+\\\t\n', ...(source.match(/[\w<>/="'-]{2,}/g) ?? [])]);
    // What matches up to some place, and then does not: the pattern's own texts one after the other, each time one more of them.
    const words = source.replaceAll(/\[\^?\]?[^\]]*\]|\\[a-zA-Z]|\{\d+,?\d*\}|\(\?[:=!<]+/g, '|').split(/[()|*+?^$]+/);
    const texts = words.map((word) => word.replaceAll('\\', '')).filter((word) => word !== '');
    for (let count = 1; count <= Math.min(8, texts.length); count++) pieces.add(texts.slice(0, count).join(''));
    const runs = [...pieces].flatMap((piece) => [piece, `${piece} `, `${piece}a`, `${piece}"`, `<${piece}`]);
    return runs.map((run) => `${run.repeat(Math.ceil(LENGTH / run.length)).slice(0, LENGTH - 1)}!`);
}
