import { oneOf } from '../sample.ts';
import { openAnswerCheck, type WireAnswer } from './check-answer.ts';
import { type OpenApi, type Operation, operationsOf } from './document.ts';
import type { GeneratorWorld } from './generator-world.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { openRandom } from './random.ts';
import { REACH } from './reach.ts';
import { type Draft, validRequest } from './valid.ts';

interface Run {
    seed: number;
    cases: number;
    /** Deviations from the document, each with the number of its case. */
    faults: string[];
    /** By operation. */
    tallies: Map<string, Tally>;
}

interface Tally {
    /** Valid requests that were answered 2xx. */
    succeeded: number;
    /** Refused requests that differ from a valid one in one place. */
    refused: number;
    statuses: Set<number>;
    outcomes: Set<string>;
}

/** The number of concurrent requests; one account may send five concurrent writes. */
const AT_ONCE = 5;
/** The run stops after this many faults, since more would show nothing new. */
const MAX_FAULTS = 40;
/** The most additional valid requests of an operation, until each of its successes was seen. Some depend on chance, such as 304. */
const MORE = 100;
/** The number of mutations that one slot of an operation covers. */
const TURNS = 5;

interface RunOptions {
    seed: number;
    /** By default a valid request for each broken one, and each chosen mutation once. */
    cases?: number;
    /** Takes one in this many mutations that lead to the same codes; 1: all of them. */
    oneOfMutations?: number;
}

/** Sends generated requests, in turn to every operation of the document, valid ones and broken ones. */
export async function runCases(fixture: GeneratorWorld, document: OpenApi, options: RunOptions): Promise<Run> {
    const { seed, oneOfMutations = 1 } = options;
    const isTaken = oneOf(oneOfMutations);
    const operations = operationsOf(document).map((operation) => {
        const codes = new Set<string>();
        const mutations = mutationsOf(operation, fixture).filter((mutation) => {
            const isFirst = codes.size < codes.add(mutation.codes.join()).size;
            return isTaken() || isFirst;
        });
        return { operation, mutations, turns: 0 };
    });
    // An operation with many mutations gets more slots, so that each mutation is sent.
    const slots = operations.flatMap((entry) => Array.from({ length: Math.ceil(entry.mutations.length / TURNS) }, () => entry));
    const { cases = slots.length * TURNS * 2 } = options;
    const checkAnswer = openAnswerCheck(document);
    const run: Run = { seed, cases, faults: [], tallies: new Map(operations.map(({ operation: { id } }) => [id, newTally()])) };
    let next = 0;

    async function runTurn(number: number): Promise<void> {
        const chosen = slots[number % slots.length];
        if (chosen === undefined) throw new Error('the document has no operations');
        const { operation, mutations } = chosen;
        const turn = chosen.turns++;
        await runCase(number, operation, turn % 2 === 0 ? undefined : mutations[(turn >> 1) % mutations.length]);
    }

    async function runCase(number: number, operation: Operation, mutation?: Mutation): Promise<void> {
        const random = openRandom(seed, number);
        const draft = validRequest(operation, fixture, random, { plain: mutation !== undefined });
        const sent = mutation === undefined ? draft : mutation.apply(draft, random);
        const answer = await send(fixture.world.base, sent);
        const { outcome, faults } = checkAnswer(operation, answer);
        const expected: readonly string[] = mutation?.codes ?? ['success', 'not modified'];
        if (!expected.includes(outcome)) faults.push(`expected ${expected.join(' or ')}: ${answer.status} ${answer.text.slice(0, 400)}`);
        tell(run, operation, mutation, answer.status, outcome);
        const what = `case ${number} of seed ${seed}, ${operation.id} ${mutation === undefined ? 'as it should be' : `with ${mutation.name}`}`;
        for (const fault of faults) run.faults.push(`${what}: ${fault} (${shown(sent)})`);
    }

    await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
            while (next < cases && run.faults.length < MAX_FAULTS) await runTurn(next++);
        }),
    );
    for (const { operation } of operations) {
        const isWhole = () => successesOf(operation).every((status) => run.tallies.get(operation.id)?.statuses.has(status));
        for (let more = 0; more < MORE && !isWhole(); more++) await runCase(next++, operation);
    }
    return run;
}

/** What the run did not show: a documented success, a code that a request alone can cause, or enough requests of each kind. */
export function gapsOf({ tallies }: Run, document: OpenApi, least: number): string[] {
    const seen = new Set([...tallies.values()].flatMap(({ outcomes }) => [...outcomes]));
    const anywhere = Object.entries(REACH).filter(([, reach]) => reach === 'somewhere' || reach === 'site');
    return [
        ...anywhere.filter(([code]) => !seen.has(code)).map(([code]) => `${code} was never seen`),
        ...operationsOf(document).flatMap((operation) => {
            const { id, codes } = operation;
            const { succeeded, refused, statuses, outcomes } = tallies.get(id) ?? newTally();
            return [
                ...successesOf(operation)
                    .filter((status) => !statuses.has(status))
                    .map((status) => `${id} never answered ${status}`),
                ...codes.filter((code) => REACH[code] === 'input' && !outcomes.has(code)).map((code) => `${id} never gave ${code}`),
                ...(succeeded < least ? [`${id} answered only ${succeeded} times with 2xx`] : []),
                ...(refused < least ? [`${id} refused only ${refused} changed requests`] : []),
            ];
        }),
    ];
}

function successesOf({ responses }: Operation): number[] {
    return Object.keys(responses)
        .map(Number)
        .filter((status) => status < 400);
}

/** A short form of a request for messages. */
function shown({ method, path, places, query, headers: { authorization: _, ...headers }, body }: Draft): string {
    const short = JSON.stringify({ places, query, headers, body }, (_key, value) =>
        typeof value === 'string' ? value.slice(0, 60) : value,
    );
    return `${method} ${path} ${short.slice(0, 400)}`;
}

function tell({ tallies }: Run, { id }: Operation, mutation: Mutation | undefined, status: number, outcome: string): void {
    const tally = tallies.get(id) ?? newTally();
    tally.statuses.add(status);
    tally.outcomes.add(outcome);
    if (mutation === undefined && status < 300) tally.succeeded++;
    if (mutation !== undefined && status >= 400) tally.refused++;
}

function newTally(): Tally {
    return { succeeded: 0, refused: 0, statuses: new Set(), outcomes: new Set() };
}

async function send(base: string, { method, path, places, query, headers, body, bytes }: Draft): Promise<WireAnswer> {
    const at = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => places[name] ?? '');
    const search = query.map((pair) => pair.join('=')).join('&');
    const sent = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
    const response = await fetch(`${base}${at}${search === '' ? '' : `?${search}`}`, {
        method,
        headers,
        ...(sent === undefined ? {} : { body: new Uint8Array(sent) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
}
