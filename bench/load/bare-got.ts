import { Agent } from 'node:http';
import got from 'got';
import { BEGIN, END, figuresOf, type LoadPlan } from './plan.ts';

/** For comparison: got alone calls the upstream, with the same number of concurrent calls. Prints the same output as the load generator. */
const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const client = got.extend({
    agent: { http: new Agent({ keepAlive: true }) },
    retry: { limit: 0 },
    headers: plan.headers,
    responseType: 'json',
});

let isMeasured = false;
let isOver = false;
let failed = 0;
const times: number[] = [];

const loops = Array.from({ length: 'inFlight' in plan.pace ? plan.pace.inFlight : 1 }, async () => {
    while (!isOver) {
        const began = performance.now();
        const isGood = await client(plan.url).then(
            () => true,
            () => false,
        );
        if (!isMeasured) continue;
        if (isGood) times.push(performance.now() - began);
        else failed++;
    }
});
await later(plan.warmupMs);
process.stdout.write(`${BEGIN}\n`);
isMeasured = true;
const began = performance.now();
await later(plan.measuredMs);
isMeasured = false;
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${END}\n`);
isOver = true;
await Promise.all(loops);
process.stdout.write(`${JSON.stringify(figuresOf(times, failed, seconds))}\n`);
process.exit(0);

function later(ms: number): Promise<void> {
    return new Promise((done) => setTimeout(done, ms));
}
