import { setTimeout as pause } from 'node:timers/promises';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { fileFaults, isFileSchema, withoutBytes } from '../../shared/domain/fetch/files.ts';
import { writeJson } from '../../shared/domain/json/bounded-json.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { truncateJson } from '../../shared/domain/json/truncate-json.ts';
import { needOf } from '../../shared/domain/package/auth.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { exampleOutcome } from '../../shared/domain/package/example-outcome.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { didYouMean } from '../../shared/domain/text/suggestions.ts';
import type { Endpoint, Json, JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import { refusalEntry } from '../../shared/refusals.ts';
import { NO_SUCH_NAME } from '../../workers/upstream/failures.ts';
import { CommandFault, detailLines, siteAnswered, wrongUsage } from '../failures.ts';
import { awaitInterruption, ENDED_BY_CTRL_C } from '../interruption.ts';
import { readValidPackage } from '../package/check-package.ts';
import { readParams, type TypedParams } from '../package/read-params.ts';
import type { Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';
import { openLocalWorker } from './local-worker.ts';

interface TestOptions extends TypedParams {
    /** Names of the writes that may be sent. */
    allowWrites?: readonly string[];
    timeout: number;
    /** Milliseconds between two calls. */
    pause: number;
    /** Prints up to `SHOWN` characters of each answer. */
    show?: true;
}

/** Maximum number of characters printed of an answer, since a site may send millions of small values. */
const SHOWN = 100_000;

const NO_EXAMPLE = 'has no example';

interface Trial {
    endpoint: Endpoint;
    params: JsonObject;
}

/** `routebook test FILE [ENDPOINT]`: calls the examples as a worker would. Skips writes unless they are allowed by name. */
export async function testPackage(session: Session, path: string, only: string | undefined, options: TestOptions): Promise<Done> {
    const { terminal, settings, say, note } = session;
    const { document } = await readValidPackage(path, terminal, settings);
    const endpoints = chooseEndpoints(document, only, options);
    const { trials, skipped } = planTrials(endpoints, document, only, options);
    const worker = openLocalWorker(settings, session.server);
    const hasLocalNames = settings.egress().egressAllow.length > 0;
    const interrupted = awaitInterruption();
    const results = [];
    try {
        for (const [index, trial] of trials.entries()) {
            if (index > 0) await pause(options.pause, undefined, { signal: interrupted.signal });
            const progress = terminal.progress(`${trial.endpoint.name}  ${index + 1} of ${trials.length}`);
            const began = performance.now();
            const called = await worker
                .call({
                    document,
                    endpoint: trial.endpoint.name,
                    params: trial.params,
                    timeoutMs: options.timeout,
                    maySend: isAllowed(trial.endpoint, options),
                    signal: interrupted.signal,
                })
                .finally(() => progress.end());
            interrupted.signal.throwIfAborted();
            const outcome = exampleOutcome(trial.endpoint, called);
            const durationMs = Math.round(performance.now() - began);
            for (const line of trialLines(trial, outcome, durationMs, options, terminal.paint)) say(line);
            if (hasLocalNames && isUnknownName(outcome)) say(`    for a name of this machine: EGRESS_HOSTS=${hostOf(trial)}=127.0.0.1`);
            results.push(presentTrial(trial, outcome, durationMs, options));
        }
    } catch (error) {
        if (interrupted.signal.aborted)
            throw new CommandFault('CANCELLED', `stopped after ${counted(results.length, 'call')}`, { exitCode: ENDED_BY_CTRL_C });
        throw error;
    } finally {
        interrupted.end();
        await worker.close();
    }
    for (const { endpoint, reason } of skipped) say(`${terminal.paint('yellow', '-')} ${endpoint}  ${reason}`);
    const failed = results.filter(({ ok }) => !ok).length;
    if (trials.length === 0 && skipped.every(({ reason }) => reason === NO_EXAMPLE))
        note('! nothing was called: add examples, the params of working calls');
    say(terminal.paint('bold', `${results.length - failed} passed, ${failed} failed, ${skipped.length} not called`));
    const ok = failed === 0 && results.length > 0;
    return { result: { ok, site: document.site, passed: results.length - failed, failed, results, skipped }, isFailure: !ok };
}

function chooseEndpoints({ endpoints }: PackageDocument, only: string | undefined, { allowWrites = [] }: TestOptions): Endpoint[] {
    const all = endpoints.map(readEndpoint);
    const names = all.map(({ name }) => name);
    for (const wanted of [...(only === undefined ? [] : [only]), ...allowWrites]) {
        if (names.includes(wanted)) continue;
        const near = didYouMean(wanted, names);
        const hint = near.length === 0 ? `it has ${names.join(', ')}` : `did you mean ${near.join(' or ')}?`;
        throw new CommandFault('ENDPOINT_NOT_FOUND', `The package has no endpoint ${wanted}; ${hint}`, { fields: { did_you_mean: near } });
    }
    return only === undefined ? all : all.filter(({ name }) => name === only);
}

function planTrials(endpoints: readonly Endpoint[], document: PackageDocument, only: string | undefined, options: TestOptions) {
    const isTyped = options.params !== undefined || (options.param ?? []).length > 0;
    if (isTyped && only === undefined) throw wrongUsage('--param and --params need the name of an endpoint');
    const trials: Trial[] = [];
    const skipped: { endpoint: string; reason: string }[] = [];
    for (const endpoint of endpoints) {
        if (endpoint.effect === 'write' && !isAllowed(endpoint, options)) {
            skipped.push({ endpoint: endpoint.name, reason: `a write: --allow-writes ${endpoint.name} sends it` });
        } else if (!endpoint.hosted) {
            skipped.push({ endpoint: endpoint.name, reason: 'not hosted: Routebook does not call it' });
        } else if (needOf(endpoint, document.auth ?? []) === 'required') {
            skipped.push({ endpoint: endpoint.name, reason: 'needs a credential: publish it, "connect" to the site, and "fetch" it' });
        } else if (isTyped) {
            const known = document.endpoints.find(({ name }) => name === endpoint.name)?.params;
            trials.push({ endpoint, params: readParams(options, known) });
        } else if (endpoint.examples.length === 0) {
            skipped.push({ endpoint: endpoint.name, reason: NO_EXAMPLE });
        } else {
            trials.push(...endpoint.examples.map(({ params }) => ({ endpoint, params })));
        }
    }
    return { trials, skipped };
}

function isAllowed({ name }: Endpoint, { allowWrites = [] }: TestOptions): boolean {
    return allowWrites.includes(name);
}

/** The params, with the size of a file instead of its bytes, which would fill the terminal. */
function shownParams({ endpoint, params }: Trial): JsonObject {
    const isFile = (name: string) => endpoint.params.some((param) => param.name === name && isFileSchema(param.schema));
    const shown = Object.entries(params).map(([name, value]): [string, Json] => [
        name,
        isFile(name) && fileFaults(value).length === 0 ? withoutBytes(value) : value,
    ]);
    return Object.fromEntries(shown);
}

function trialLines(trial: Trial, outcome: FetchOutcome, durationMs: number, { show }: TestOptions, paint: Paint): string[] {
    const call = `${trial.endpoint.name} ${paint('dim', JSON.stringify(shownParams(trial)))}`;
    if (outcome.ok) {
        const { results, truncated, upstream } = outcome;
        const more = truncated ? ', the site has more' : '';
        const figures = `${upstream.status}, ${counted(results, 'result')}${more}, ${durationMs} ms`;
        const data = show === true ? dataLines(outcome.text, paint) : [];
        // An empty list may be right, but more often a selector no longer matches.
        const empty = results === 0 ? [paint('yellow', '! an empty list: does "select" still find the items?')] : [];
        return [`${paint('green', '✓')} ${call}  ${paint('dim', figures)}`, ...[...empty, ...data].map((line) => `    ${line}`)];
    }
    const { code, message = refusalEntry(code).meaning, details = [], upstream } = outcome;
    return [
        `${paint('red', '✗')} ${call}  ${paint('dim', `${durationMs} ms`)}`,
        `    ${paint('bold', code)}  ${message}`,
        ...detailLines(details, paint).map((line) => `  ${line}`),
        ...(upstream === undefined ? [] : [`    ${siteAnswered(upstream)}`]),
    ];
}

function isUnknownName(outcome: FetchOutcome): boolean {
    return !outcome.ok && outcome.message === NO_SUCH_NAME;
}

function hostOf({ endpoint }: Trial): string {
    return new URL(endpoint.url).hostname;
}

function dataLines(answer: string, paint: Paint): string[] {
    const { text, isWhole } = writeJson(beginningOfAnswer(answer), SHOWN, { indent: 2 });
    const lines = text.split('\n');
    return isWhole && !isLong(answer) ? lines : [...lines, paint('dim', `… the answer has ${answer.length} characters`)];
}

function beginningOfAnswer(answer: string): JsonObject {
    return parseExact<JsonObject>(truncateJson(answer, SHOWN));
}

function isLong(answer: string): boolean {
    return answer.length > SHOWN;
}

function presentTrial({ endpoint, params }: Trial, outcome: FetchOutcome, durationMs: number, { show }: TestOptions) {
    const call = { endpoint: endpoint.name, params, ok: outcome.ok, duration_ms: durationMs };
    if (outcome.ok) {
        const { results, truncated, upstream, text } = outcome;
        const data = show === true ? { data: beginningOfAnswer(text), ...(isLong(text) ? { data_cut: true } : {}) } : {};
        return { ...call, status: upstream.status, attempts: upstream.attempts, results, truncated, ...data };
    }
    const { code, message = refusalEntry(code).meaning, details = [], upstream } = outcome;
    return { ...call, code, message, details, ...(upstream === undefined ? {} : { upstream }) };
}
