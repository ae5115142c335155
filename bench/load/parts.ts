import { openApp } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { windowsOf } from '../../shared/domain/accounts/plans.ts';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { createParamValidator } from '../../shared/domain/fetch/validate-params.ts';
import { jsonProblems } from '../../shared/domain/json/json-bounds.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { readConfig, requireDatabase } from '../../shared/platform/config.ts';
import { createLog } from '../../shared/platform/log.ts';
import { checkDial, checkUrl } from '../../workers/egress.ts';
import { benchPackage, fetchBodies, SITE } from '../stack/package.ts';

/**
 * Measures the cost of each check of a fetch alone: `node parts.ts <key> <times>`, with the settings of an API, prints microseconds as
 * JSON. A separate process, so that other work does not change how warm its code is.
 */
const [apiKey = '', rounds = '1000'] = process.argv.slice(2);
const config = { ...requireDatabase(readConfig()), keyPrefix: '{bench-parts}' };
const app = openApp(config, { role: 'worker', log: createLog('warn') });
try {
    await untilConnected();
    const figures = {
        limit_us: await limit(Number(rounds)),
        key_us: await key(Number(rounds)),
        guard_us: guard(Number(rounds)),
        validation_us: validation(Number(rounds)),
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
    await app.close();
}

/** Waits until Redis answers. It connects in the background, and commands fail until then. */
async function untilConnected(): Promise<void> {
    for (let tries = 1; ; tries++) {
        try {
            await app.limits.peek('nobody', [], 'nobody');
            return;
        } catch (error) {
            if (tries === 100) throw error;
            await new Promise((done) => setTimeout(done, 20));
        }
    }
}

/**
 * Median time to check three rate limits, an account's concurrency and a site's share in one step, one call at a time. Excludes the end of
 * the lease.
 */
async function limit(count: number): Promise<number> {
    const windows = windowsOf({ perMinute: 1e9, perHour: 1e9, perDay: 1e9 });
    const taken: number[] = [];
    for (let turn = 0; turn < count; turn++) {
        const lease = {
            operation: `op_${turn}`,
            account: 'wsp_bench',
            concurrency: 1000,
            site: SITE,
            share: 1000,
            expiresAt: Date.now() + 35_000,
        };
        const began = performance.now();
        const verdict = await app.limits.take({ identity: 'account:wsp_bench', windows, lease });
        taken.push((performance.now() - began) * 1000);
        if (!verdict.ok) throw new Error(`the limits refused: ${verdict.reason}`);
        await app.limits.end(lease);
    }
    return taken.toSorted((one, other) => one - other)[Math.floor(count / 2)] ?? Number.NaN;
}

async function key(count: number): Promise<number> {
    if ((await app.keys.find(keyHash(apiKey))) === undefined) throw new Error('the key is not known');
    const look = async () => {
        if (!isWellFormedKey(apiKey)) throw new Error('the key is not well-formed');
        await app.keys.find(keyHash(apiKey));
    };
    for (let turn = 0; turn < count; turn++) await look();
    await app.keys.find(keyHash(apiKey));
    const began = performance.now();
    for (let turn = 0; turn < count; turn++) await look();
    return ((performance.now() - began) * 1000) / count;
}

/** Time of the guard's checks for a fetch that opens a new connection: the URL, then the address. */
function guard(count: number): number {
    const rules = { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: undefined };
    return perTurn(count, (turn) => {
        const url = new URL(`https://${SITE}/items/${turn}?sort=price`);
        const isAllowed = checkUrl(url, SITE, rules) === 'allowed';
        const dial = checkDial({ address: `93.184.${turn % 250}.34`, port: 443, scheme: 'https' }, rules);
        if (!isAllowed || dial !== 'allowed') throw new Error(`the guard refused: ${dial}`);
    });
}

/** Time to check the size and text of the body, its shape, then the params by their schemas. */
function validation(count: number): number {
    const [document] = benchPackage(443).endpoints;
    if (document === undefined || postFetch.body === undefined) throw new Error('there is nothing to validate');
    const { schema } = postFetch.body;
    const endpoint = readEndpoint(document);
    const bodies = fetchBodies('item').map((body) => JSON.parse(body) as JsonObject & { params: JsonObject });
    return perTurn(count, (turn) => {
        const body = bodies[turn % bodies.length];
        if (body === undefined || jsonProblems(body).length > 0) throw new Error('the body is out of bounds');
        const { error } = schema.validate(body, { abortEarly: false, convert: false });
        const bound = bindParams(endpoint, body.params, createParamValidator());
        if (error !== undefined || !bound.ok) throw new Error('the body is not valid');
    });
}

/** Mean microseconds of a call of `act`, after a warm-up. */
function perTurn(count: number, act: (turn: number) => void): number {
    for (let turn = 0; turn < count; turn++) act(turn);
    const began = performance.now();
    for (let turn = 0; turn < count; turn++) act(turn);
    return ((performance.now() - began) * 1000) / count;
}
