/** The owner of a piece of work, and its possible cost. */
export interface Work {
    /** Kind of process that runs it. */
    kind: string;
    owner: string;
    /** Whether a contributor controls its cost. Each owner has one heavy piece at a time. */
    isHeavy: boolean;
}

/** Queue of work. Owners take turns, each with its oldest piece. */
export interface Turns<T extends Work> {
    add(work: T): void;
    /** The next piece of this kind that may begin; it counts as begun until `ended`. */
    begin(kind: string): T | undefined;
    ended(work: T): void;
    /** Removes a waiting piece. @returns whether it was waiting */
    remove(work: T): boolean;
    /** Number of pieces of this kind that could begin now. */
    ready(kind: string): number;
    /** Removes and returns all waiting work. */
    clear(): T[];
}

/** Creates an empty queue. */
export function createTurns<T extends Work>(): Turns<T> {
    /** Waiting work by owner; the next owner comes first. */
    const waiting = new Map<string, T[]>();
    const heavy = new Set<string>();
    const mayBegin = ({ owner, isHeavy }: T) => !(isHeavy && heavy.has(owner));

    function drop(owner: string, works: T[], index: number): void {
        works.splice(index, 1);
        waiting.delete(owner);
        if (works.length > 0) waiting.set(owner, works);
    }

    return {
        add(work) {
            const works = waiting.get(work.owner);
            if (works === undefined) waiting.set(work.owner, [work]);
            else works.push(work);
        },
        begin(kind) {
            for (const [owner, works] of waiting) {
                const index = works.findIndex((work) => work.kind === kind && mayBegin(work));
                const work = works[index];
                if (work === undefined) continue;
                drop(owner, works, index);
                if (work.isHeavy) heavy.add(owner);
                return work;
            }
            return undefined;
        },
        ended({ owner, isHeavy }) {
            if (isHeavy) heavy.delete(owner);
        },
        remove(work) {
            const works = waiting.get(work.owner) ?? [];
            const index = works.indexOf(work);
            if (index === -1) return false;
            works.splice(index, 1);
            if (works.length === 0) waiting.delete(work.owner);
            return true;
        },
        ready(kind) {
            let count = 0;
            for (const works of waiting.values()) {
                const could = works.filter((work) => work.kind === kind && mayBegin(work));
                const light = could.filter(({ isHeavy }) => !isHeavy).length;
                count += light + Math.min(1, could.length - light);
            }
            return count;
        },
        clear() {
            const all = [...waiting.values()].flat();
            waiting.clear();
            return all;
        },
    };
}
