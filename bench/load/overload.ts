import { BEGIN, END, figuresOf } from './plan.ts';
import { openPool } from './pool.ts';

/** An overload: more fetches than the service can handle. It is passed to this process as JSON. Times are in milliseconds. */
export interface OverloadPlan {
    base: string;
    apiKey: string;
    site: string;
    endpoint: string;
    perSecond: number;
    offeredMs: number;
    /** Timeout of each fetch. The URL tells the site the deadline of the call. */
    timeoutMs: number;
}

/** The results of the offered calls. Times count from the moment when a call was due. */
export interface OverloadFigures {
    offered: number;
    /** Calls with a 200 answer, received before the last call was due. */
    good: number;
    goodP50: number;
    goodP99: number;
    refused: number;
    refusedP50: number;
    refusedP99: number;
    refusedMax: number;
    /** 503 without Retry-After. */
    mute: number;
    /** Neither 200 nor 503; broken connections too. */
    others: number;
    /** Status of the first of them, and the end of its answer. */
    firstOther?: string;
}

/** `node overload.ts <plan as JSON>` prints a line when the load begins and when it ends, then its figures as JSON. */
const plan = JSON.parse(process.argv[2] ?? '') as OverloadPlan;
const target = new URL(plan.base);
/**
 * Keep-alive connections, as those of proxies. There are more than concurrent calls; one process accepts 10,000. With fewer, the generator
 * would open a connection for each call that finds none free. At its limit of 20,000 files it could then no longer send the load.
 */
const POOL = 8000;
const PLACE = '0'.repeat(13);
const template = requestOf(
    JSON.stringify({
        site: plan.site,
        endpoint: plan.endpoint,
        params: { id: 1, q: `until ${PLACE}` },
        timeout_ms: plan.timeoutMs,
    }),
);
const place = template.indexOf(PLACE);

const good: number[] = [];
const refused: number[] = [];
const figures = { good: 0, mute: 0, others: 0, firstOther: undefined as string | undefined };
let sent = 0;
let inFlight = 0;
let isOver = false;

const pool = await openPool(target, POOL);
process.stdout.write(`${BEGIN}\n`);
const start = performance.now();
await offer();
process.stdout.write(`${END}\n`);
isOver = true;
while (inFlight > 0) await later(5);
pool.close();
const [well, refusals] = [figuresOf(good, 0, 1), figuresOf(refused, 0, 1)];
const report: OverloadFigures = {
    offered: sent,
    good: figures.good,
    goodP50: well.p50,
    goodP99: well.p99,
    refused: refusals.count,
    refusedP50: refusals.p50,
    refusedP99: refusals.p99,
    refusedMax: refusals.max,
    mute: figures.mute,
    others: figures.others,
    ...(figures.firstOther === undefined ? {} : { firstOther: figures.firstOther }),
};
process.stdout.write(`${JSON.stringify(report)}\n`);

/** Sends evenly spaced calls, independent of the answers. */
function offer(): Promise<void> {
    return new Promise((done) => {
        const timer = setInterval(() => {
            const passed = Math.min(plan.offeredMs, performance.now() - start);
            for (const due = Math.floor((passed * plan.perSecond) / 1000); sent < due; sent++)
                call(start + ((sent + 1) * 1000) / plan.perSecond);
            if (passed < plan.offeredMs) return;
            clearInterval(timer);
            done();
        }, 1);
    });
}

function call(due: number): void {
    const connection = pool.take();
    const request = Buffer.from(template);
    request.write(String(Date.now() + plan.timeoutMs), place, 'latin1');
    inFlight++;
    connection.call(request, (status, answer) => {
        inFlight--;
        pool.giveBack(connection);
        const took = performance.now() - due;
        if (status === 200) {
            good.push(took);
            if (!isOver) figures.good++;
        } else if (status === 503) {
            refused.push(took);
            if (!answer.includes('\r\nretry-after: ')) figures.mute++;
        } else {
            figures.others++;
            figures.firstOther ??= `${status} ${answer.toString('utf8').slice(-400)}`;
        }
    });
}

function requestOf(body: string): Buffer {
    const head = [
        'POST /v1/fetch HTTP/1.1',
        `host: ${target.host}`,
        `authorization: Bearer ${plan.apiKey}`,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
    ];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function later(ms: number): Promise<void> {
    return new Promise((done) => setTimeout(done, ms));
}
