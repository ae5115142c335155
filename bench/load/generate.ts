import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Connection } from './connection.ts';
import { BEGIN, END, figuresOf, type LoadPlan } from './plan.ts';
import { openPool } from './pool.ts';
import { printRateWhenStopped } from './sent.ts';

/**
 * The load generator, a separate process: `node generate.ts <plan as JSON>` prints a line when the load begins and when it ends, then its
 * figures as JSON. If it is stopped earlier, it prints how many calls it sent.
 */
const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const target = new URL(plan.url);
const { pathname, host } = target;
const paths = plan.pathsFile === undefined ? [pathname] : readFileSync(plan.pathsFile, 'utf8').split('\n');
const requests =
    plan.bodies.length === 0
        ? paths.map((path, place) => requestOf(path, undefined, clientOf(place)))
        : plan.bodies.map((body) => requestOf(pathname, body));

let turn = 0;
let inFlight = 0;
let isMeasured = false;
let isOver = false;
let failed = 0;
let firstFailure: string | undefined;
const times: number[] = [];

const pool = await openPool(target, plan.connections ?? 0);
printRateWhenStopped(() => turn);
const load = 'inFlight' in plan.pace ? closedLoop(plan.pace.inFlight) : openLoop(plan.pace.perSecond);
await later(plan.warmupMs);
process.stdout.write(`${BEGIN}\n`);
isMeasured = true;
const began = performance.now();
await later(plan.measuredMs);
isMeasured = false;
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${END}\n`);
isOver = true;
load.stop();
while (inFlight > 0) await later(5);
pool.close();
const details = { ...(plan.tellsTimes && { times }), ...(firstFailure && { firstFailure }) };
process.stdout.write(`${JSON.stringify({ ...figuresOf(times, failed, seconds), ...details })}\n`);

function requestOf(path: string, body?: string, more: Record<string, string> = {}): Buffer {
    const headers = Object.entries({ host, ...plan.headers, ...more, ...(body === undefined ? {} : lengthOf(body)) });
    const head = [`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

function clientOf(place: number): Record<string, string> {
    return plan.fromManyClients ? { 'x-forwarded-for': `198.${18 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}` } : {};
}

function lengthOf(body: string): Record<string, string> {
    return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}

/** Sends one call. @param due when the call should have begun; its duration counts from then */
function call(connection: Connection, due: number, ended: () => void): void {
    inFlight++;
    connection.call(requests[turn++ % requests.length] ?? Buffer.alloc(0), (status, answer) => {
        inFlight--;
        if (isMeasured) {
            if (status === 200) times.push(performance.now() - due);
            else failed++;
        }
        if (status !== 200 && !isOver) firstFailure ??= `${status} ${answer.toString('utf8').slice(-400)}`;
        ended();
    });
}

function closedLoop(count: number): { stop(): void } {
    for (let index = 0; index < count; index++) {
        const connection = pool.another();
        const next = () => {
            if (!isOver) call(connection, performance.now(), () => setImmediate(next));
        };
        next();
    }
    return { stop() {} };
}

/** Sends evenly spaced calls. Each takes a free connection or opens one, so a slow server does not delay later calls. */
function openLoop(perSecond: number): { stop(): void } {
    const pacer = new Worker(new URL('pacer.ts', import.meta.url), { workerData: { perSecond } });
    let start: number | undefined;
    let sent = 0;
    pacer.on('message', (due: number) => {
        const now = performance.now();
        // The first call may be late. A later one shows by how much.
        start = Math.min(start ?? now, now - (due * 1000) / perSecond);
        for (; sent < due; sent++) {
            const connection = pool.take();
            call(connection, start + ((sent + 1) * 1000) / perSecond, () => pool.giveBack(connection));
        }
    });
    return { stop: () => void pacer.terminate() };
}

function later(ms: number): Promise<void> {
    return new Promise((done) => setTimeout(done, ms));
}
