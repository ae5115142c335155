import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { FaultBed } from '../support/fault-bed.ts';
import type { Entry } from '../support/fault-caller.ts';

/** What may become of a call while a part is missing: too little may be left for all, and what a dead process held is free only later. */
export const FATES = [
    ...['success', 'DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN', 'UPSTREAM_TIMEOUT'],
    ...['SERVICE_UNAVAILABLE', 'OVERLOADED', 'SITE_BUSY'],
];

/** What may become of a call whose worker died or hung: nothing else is missing, so that nobody is refused. */
export const LOST = ['success', 'DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN'];

/** What may become of a call while Redis is missing: new ones are refused, those in flight end inside their deadline. */
export const REFUSED_OR_LOST = [...LOST, 'SERVICE_UNAVAILABLE'];

/** Resolves with how long it took until a call to this API succeeded. */
export const untilGood = (bed: FaultBed, api: number, withinMs = 5000 + bed.spareMs): Promise<number> =>
    eventually(
        () => bed.call({ api, timeoutMs: 1000, isQuick: true }),
        ({ code }) => code === 'success',
        withinMs,
    );

/** What a call hears whose load is too much. */
const TOO_MUCH = ['OVERLOADED', 'SITE_BUSY'];

/** Whether a call was refused because the load is too much for this machine, where the bed says that this may be. */
export const isTooMuch = (bed: FaultBed, { code }: Entry): boolean => bed.mayRefuse && TOO_MUCH.includes(code);

/** Fails for codes that callers got and that are not among these, with how often each came. */
export function expectCodes(bed: FaultBed, history: readonly Entry[], known: readonly string[]): void {
    const counts: Record<string, number> = {};
    for (const { code } of history) counts[code] = (counts[code] ?? 0) + 1;
    const expected = bed.mayRefuse ? [...known, ...TOO_MUCH] : known;
    expect(expected, JSON.stringify(counts)).to.include.members(Object.keys(counts));
}
