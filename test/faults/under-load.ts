import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { FaultBed } from '../support/fault-bed.ts';
import type { Entry } from '../support/fault-caller.ts';

/** Possible results of a call while a part is down: capacity may be missing, and holds of a dead process are released later. */
export const FATES = [
    ...['success', 'DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN', 'UPSTREAM_TIMEOUT'],
    ...['SERVICE_UNAVAILABLE', 'OVERLOADED', 'SITE_BUSY'],
];

/** Possible results of a call whose worker died or hung: nothing else is missing, so no call is refused. */
export const LOST = ['success', 'DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN'];

/** Possible results of a call while Redis is down: new ones are refused, those in flight end before their deadline. */
export const REFUSED_OR_LOST = [...LOST, 'SERVICE_UNAVAILABLE'];

/** Resolves with the time until a call to this API succeeded. */
export const untilGood = (bed: FaultBed, api: number, withinMs = 5000 + bed.spareMs): Promise<number> =>
    eventually(
        () => bed.call({ api, timeoutMs: 1000, isQuick: true }),
        ({ code }) => code === 'success',
        withinMs,
    );

/** Errors of a call beyond the capacity. */
const TOO_MUCH = ['OVERLOADED', 'SITE_BUSY'];

/** Whether a call was refused for this machine's capacity, if the bed allows that. */
export const isTooMuch = (bed: FaultBed, { code }: Entry): boolean => bed.mayRefuse && TOO_MUCH.includes(code);

/** Fails for results that are not among these codes, with the count of each. */
export function expectCodes(bed: FaultBed, history: readonly Entry[], known: readonly string[]): void {
    const counts: Record<string, number> = {};
    for (const { code } of history) counts[code] = (counts[code] ?? 0) + 1;
    const expected = bed.mayRefuse ? [...known, ...TOO_MUCH] : known;
    expect(expected, JSON.stringify(counts)).to.include.members(Object.keys(counts));
}
