/** What is known of an endpoint that was found, apart from its words. */
export interface Found {
    registrable: string;
    /** 0 to 1. */
    score: number;
    isVerified: boolean;
    /** Of 7 days, 0 to 1; null without calls. */
    successRate: number | null;
    p95Ms: number | null;
    /** Credits of one unit. */
    credits: number;
    /** How often it was chosen for alike tasks, and succeeded. */
    choices: number;
}

/** Endpoints whose scores differ by less fit alike: what they are like decides then. */
const ALIKE = 0.02;
/** One that was never called comes between those that work and those that do not. */
const UNCALLED_RATE = 0.5;
const UNCALLED_MS = 1000;

/** Best matches first; among those that fit alike what was chosen before, is verified, works, is fast, and costs little. */
export function byFit(a: Found, b: Found): number {
    return (
        step(b) - step(a) ||
        Math.floor(Math.log2(1 + b.choices)) - Math.floor(Math.log2(1 + a.choices)) ||
        Number(b.isVerified) - Number(a.isVerified) ||
        tenths(b) - tenths(a) ||
        slowness(a) - slowness(b) ||
        a.credits - b.credits ||
        b.score - a.score
    );
}

function step({ score }: Found): number {
    return Math.floor(score / ALIKE);
}

function tenths({ successRate }: Found): number {
    return Math.round((successRate ?? UNCALLED_RATE) * 10);
}

/** Twice as slow is one more. */
function slowness({ p95Ms }: Found): number {
    return Math.round(Math.log2(Math.max(1, p95Ms ?? UNCALLED_MS)));
}

/** Slots of a list that are filled together, and how many of them one domain may have. */
const TEN = 10;
const OF_A_DOMAIN = 3;

/** The place of an endpoint in a list. */
export interface Slot<Row> {
    slot: number;
    row: Row;
}

/**
 * The slots of a list with no more than three endpoints of a registrable domain in each ten; what is too many comes in a later ten. Where
 * too few domains fit, the last slots of a ten stay empty.
 */
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

/** One after another. */
export function inARow<Row>(rows: readonly Row[]): Slot<Row>[] {
    return rows.map((row, slot) => ({ slot, row }));
}

/** The rows of so many slots, and the slot where the next page begins; undefined on the last one. */
export function pageOf<Row>(slots: readonly Slot<Row>[], from: number, limit: number): { rows: Row[]; next: number | undefined } {
    const end = from + limit;
    return {
        rows: slots.filter(({ slot }) => slot >= from && slot < end).map(({ row }) => row),
        next: slots.find(({ slot }) => slot >= end)?.slot,
    };
}
