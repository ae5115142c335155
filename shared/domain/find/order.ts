/** Ranking facts about an endpoint, apart from its words. */
export interface Found {
    /** Ascends in the order of a package. */
    id: number;
    registrable: string;
    /** From 0 to 1. */
    score: number;
    isVerified: boolean;
    /** Success rate of the last 7 days, 0 to 1; null without calls. */
    successRate: number | null;
    p95Ms: number | null;
    /** Price of one unit, in credits. */
    credits: number;
    /** Number of successful fetches after searches for similar tasks. */
    choices: number;
}

/** Scores that differ by less than this count as equal. The other facts then decide. */
const ALIKE = 0.02;
/** The assumed rate of an endpoint that was never called. */
const UNCALLED_RATE = 0.5;
const UNCALLED_MS = 1000;

/**
 * Best scores first; among equal scores by verification, success rate, speed, price and earlier choices. What equals in all comes in the
 * order of the package, whose main endpoints usually come first; without an order, lists and their pages would differ from call to call.
 */
export function bestFirst<Row extends Found>(rows: readonly Row[]): Row[] {
    const left = rows.toSorted((a, b) => b.score - a.score);
    const ordered: Row[] = [];
    while (left.length > 0) {
        const least = (left[0]?.score ?? 0) - ALIKE;
        const differs = left.findIndex(({ score }) => score <= least);
        ordered.push(...left.splice(0, differs < 0 ? left.length : differs).sort(byFacts));
    }
    return ordered;
}

function byFacts(a: Found, b: Found): number {
    return (
        Number(b.isVerified) - Number(a.isVerified) ||
        tenths(b) - tenths(a) ||
        slowness(a) - slowness(b) ||
        a.credits - b.credits ||
        Math.floor(Math.log2(1 + b.choices)) - Math.floor(Math.log2(1 + a.choices)) ||
        b.score - a.score ||
        a.id - b.id
    );
}

function tenths({ successRate }: Found): number {
    return Math.round((successRate ?? UNCALLED_RATE) * 10);
}

/** Increases by one when the time doubles. */
function slowness({ p95Ms }: Found): number {
    return Math.round(Math.log2(Math.max(1, p95Ms ?? UNCALLED_MS)));
}

/** Slots are filled in groups of ten, with a maximum per domain. */
const TEN = 10;
const OF_A_DOMAIN = 3;

/** The slot of an endpoint in a list. */
export interface Slot<Row> {
    slot: number;
    row: Row;
}

/** At most three of ten slots have the same registrable domain; further ones move on. With few domains the last slots stay empty. */
export function spread<Row extends Pick<Found, 'registrable'>>(rows: readonly Row[]): Slot<Row>[] {
    const slots: Slot<Row>[] = [];
    let waiting = [...rows];
    for (let first = 0; waiting.length > 0; first += TEN) {
        const counts = new Map<string, number>();
        const later: Row[] = [];
        let next = first;
        for (const row of waiting) {
            const count = counts.get(row.registrable) ?? 0;
            if (next === first + TEN || count === OF_A_DOMAIN) {
                later.push(row);
                continue;
            }
            counts.set(row.registrable, count + 1);
            slots.push({ slot: next++, row });
        }
        waiting = later;
    }
    return slots;
}

/** Assigns consecutive slots. */
export function inARow<Row>(rows: readonly Row[]): Slot<Row>[] {
    return rows.map((row, slot) => ({ slot, row }));
}

/** The rows of `limit` slots, and the slot where the next page begins; undefined on the last page. */
export function pageOf<Row>(slots: readonly Slot<Row>[], from: number, limit: number): { rows: Row[]; next: number | undefined } {
    const end = from + limit;
    return {
        rows: slots.filter(({ slot }) => slot >= from && slot < end).map(({ row }) => row),
        next: slots.find(({ slot }) => slot >= end)?.slot,
    };
}
