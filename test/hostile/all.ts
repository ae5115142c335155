import type { Person } from '../support/people.ts';
import type { Behaviour } from './behaviour.ts';
import { type Ground, openGround } from './ground.ts';
import { faultsOf, type Patience, timeoutOf } from './judge.ts';

export interface Outcome {
    /** What went wrong, in sentences. */
    faults: Map<Behaviour, string[]>;
    /** Accounts whose balance is not what their answers said. */
    drift: string[];
    /** What was logged as a bug. */
    bugs: unknown[];
}

/** A caller with an account, who knows what it has left. */
interface Lane {
    person: Person;
    credits: number;
}

/**
 * Lets every behaviour happen to one read and one write, by the whole path.
 * @param lanes so many callers at once
 * @param busyLanes of them, while a behaviour is not merely waited for: everything runs in one process, where they wait for each other
 */
export async function runAll(
    behaviours: readonly Behaviour[],
    { lanes, busyLanes, patience }: { lanes: number; busyLanes: number; patience: Patience },
): Promise<Outcome> {
    const ground = await openGround(behaviours, lanes);
    const faults = new Map<Behaviour, string[]>();
    try {
        const callers = await Promise.all(ground.people.map((person) => open(ground, behaviours, person)));
        // Those that only wait go first: what keeps the machine busy would make their timers late.
        for (const doesWait of [true, false]) {
            const waiting = behaviours.filter((behaviour) => waits(behaviour) === doesWait);
            await Promise.all(
                callers.slice(0, doesWait ? lanes : busyLanes).map(async (lane) => {
                    for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
                        faults.set(one, await happen(ground, one, lane, patience));
                }),
            );
        }
        const drift = await Promise.all(callers.map(driftOf));
        const bugs = ground.world.logged.filter(({ level }) => level === 'error' || level === 'fatal');
        return { faults, bugs, drift: drift.flat() };
    } finally {
        await ground.close();
    }
}

const waits = ({ read, write }: Behaviour) => [read, write].some(({ time }) => time === 'at the deadline');

/** The bonus of a first fetch would stand in the way of counting: it is earned here. */
async function open(ground: Ground, behaviours: readonly Behaviour[], person: Person): Promise<Lane> {
    const first = behaviours.find(({ place }) => place.kind === 'http');
    if (first !== undefined) await ground.callGood(first, person);
    return { person, credits: (await creditsOf(person)).balance };
}

/** Afterwards the same host is called again: what the first call left on a connection must not answer the second. */
async function happen(ground: Ground, behaviour: Behaviour, lane: Lane, patience: Patience): Promise<string[]> {
    const faults: string[] = [];
    for (const effect of ['read', 'write'] as const) {
        const ran = await ground.call(behaviour, effect, lane.person, timeoutOf(behaviour[effect].time));
        faults.push(...faultsOf(behaviour, effect, ran, lane, patience));
        if (Number.isFinite(ran.creditsRemaining)) lane.credits = ran.creditsRemaining;
    }
    if (behaviour.place.kind !== 'http') return faults;
    const odd = await ground.callGood(behaviour, lane.person);
    if (odd === undefined) lane.credits--;
    else faults.push(`the next call of the same site gets ${odd}`);
    return faults;
}

async function driftOf({ person, credits }: Lane): Promise<string[]> {
    const { balance, held } = await creditsOf(person);
    return balance === credits && held === 0 ? [] : [`${balance} credits and ${held} on hold, where ${credits} were told`];
}

async function creditsOf(person: Person): Promise<{ balance: number; held: number }> {
    const { status, body } = await person.call('GET', '/v1/account');
    if (status !== 200) throw new Error(`the account could not be read: ${JSON.stringify(body)}`);
    return (body['data'] as { credits: { balance: number; held: number } }).credits;
}
