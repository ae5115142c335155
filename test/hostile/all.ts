import type { Person } from '../support/people.ts';
import type { Behaviour } from './behaviour.ts';
import { type HostileSites, openHostileSites } from './hostile-sites.ts';
import { faultsOf, type Patience, timeoutOf } from './outcome-faults.ts';

interface Outcome {
    /** What went wrong, in sentences. */
    faults: Map<Behaviour, string[]>;
    /** Accounts whose balance differs from their responses. */
    drift: string[];
    /** Log lines of the levels error and fatal. */
    bugs: unknown[];
}

/** A caller with an account, and the balance that it expects. */
interface Caller {
    person: Person;
    credits: number;
}

/**
 * Runs every behaviour for one read and one write, through the complete path.
 * @param callers concurrent callers
 * @param busyCallers concurrent callers of behaviours that use the CPU: everything runs in one process, where they delay each other
 */
export async function runAll(
    behaviours: readonly Behaviour[],
    { callers, busyCallers, patience }: { callers: number; busyCallers: number; patience: Patience },
): Promise<Outcome> {
    const sites = await openHostileSites(behaviours, callers);
    const faults = new Map<Behaviour, string[]>();
    try {
        const people = await Promise.all(sites.people.map((person) => openCaller(sites, behaviours, person)));
        // Behaviours that only wait go first, since CPU load would delay their timers.
        for (const doesWait of [true, false]) {
            const waiting = behaviours.filter((behaviour) => waits(behaviour) === doesWait);
            await Promise.all(
                people.slice(0, doesWait ? callers : busyCallers).map(async (caller) => {
                    for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
                        faults.set(one, await runBehaviour(sites, one, caller, patience));
                }),
            );
        }
        const drift = await Promise.all(people.map(driftOf));
        const bugs = sites.world.logged.filter(({ level }) => level === 'error' || level === 'fatal');
        return { faults, bugs, drift: drift.flat() };
    } finally {
        await sites.close();
    }
}

const waits = ({ read, write }: Behaviour) => [read, write].some(({ time }) => time === 'at the deadline');

/** Makes a first fetch, since its bonus would change the balances that are checked. */
async function openCaller(sites: HostileSites, behaviours: readonly Behaviour[], person: Person): Promise<Caller> {
    const first = behaviours.find(({ place }) => place.kind === 'http');
    if (first !== undefined) await sites.callGood(first, person);
    return { person, credits: (await creditsOf(person)).balance };
}

/** The same host is called again afterwards: data left on the connection must not answer the second call. */
async function runBehaviour(sites: HostileSites, behaviour: Behaviour, caller: Caller, patience: Patience): Promise<string[]> {
    const faults: string[] = [];
    for (const effect of ['read', 'write'] as const) {
        const ran = await sites.call(behaviour, effect, caller.person, timeoutOf(behaviour[effect].time));
        faults.push(...faultsOf(behaviour, effect, ran, caller, patience));
        if (Number.isFinite(ran.creditsRemaining)) caller.credits = ran.creditsRemaining;
    }
    if (behaviour.place.kind !== 'http') return faults;
    const odd = await sites.callGood(behaviour, caller.person);
    if (odd === undefined) caller.credits--;
    else faults.push(`the next call of the same site gets ${odd}`);
    return faults;
}

async function driftOf({ person, credits }: Caller): Promise<string[]> {
    const { balance, held } = await creditsOf(person);
    return balance === credits && held === 0 ? [] : [`${balance} credits and ${held} on hold, but the responses said ${credits}`];
}

async function creditsOf(person: Person): Promise<{ balance: number; held: number }> {
    const { status, body } = await person.call('GET', '/v1/account');
    if (status !== 200) throw new Error(`the account could not be read: ${JSON.stringify(body)}`);
    return (body['data'] as { credits: { balance: number; held: number } }).credits;
}
