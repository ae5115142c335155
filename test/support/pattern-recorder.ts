import { parentPort, workerData } from 'node:worker_threads';

/**
 * Imports the given files in a separate thread, so that every module is loaded again. Reports the patterns that they create by `new RegExp`
 * while they load, as `[file, source, flags]`.
 */
const files = workerData as string[];
const made: [string, string, string][] = [];
const Native = RegExp;
globalThis.RegExp = new Proxy(Native, {
    construct(target, [source, flags]: [string | RegExp, string | undefined]) {
        const pattern = Reflect.construct(target, [source, flags]) as RegExp;
        const caller = new Error().stack?.split('\n')[2] ?? '';
        const file = Native.prototype.exec.call(/\/((?:api|shared|workers)\/[^:]+\.ts)/, caller)?.[1];
        if (file !== undefined && !caller.includes('node_modules')) made.push([file, pattern.source, pattern.flags]);
        return pattern;
    },
});
for (const file of files) await import(file);
parentPort?.postMessage(made);
