import { setTimeout as sleep } from 'node:timers/promises';

/** The target of an attack, with the key of the attacker's account. */
export interface Target {
    base: string;
    apiKey: string;
    /** The number of concurrent requests. */
    size: number;
    /** A site without a package. It is served from 127.0.0.1. */
    site: string;
    /** Called right before the attack begins, after its preparation. */
    begun?: () => void;
}

/** The number of responses by status; 0 is a connection that ended without a response. */
export type Heard = Map<number, number>;

/** A row of the tables: an attack on the service. */
export interface Stranger {
    name: string;
    /** A response that a worker reads, a package that an API checks, or many concurrent requests. */
    kind: 'reading' | 'package' | 'crowd';
    /** Another row is nearly the same. Specs run both, the bench runs only the other one. */
    isVariant?: boolean;
    /** Short runs try this row on every surface, and other rows on one surface. */
    isSample?: boolean;
    /** Runs until the signal. */
    run(target: Target, until: AbortSignal): Promise<Heard>;
}

/** A pause between refused requests, so that the attackers do not use the CPU themselves. */
export const BREATH_MS = 5;

/** Runs `size` loops that each repeat the same request. */
export async function again(
    { size, begun }: Target,
    until: AbortSignal,
    act: (turn: number) => Promise<{ status: number }>,
): Promise<Heard> {
    const statuses: Heard = new Map();
    let turns = 0;
    const member = async () => {
        while (!until.aborted) {
            const { status } = await act(turns++);
            if (until.aborted) return;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            await sleep(BREATH_MS);
        }
    };
    begun?.();
    await Promise.all(Array.from({ length: size }, member));
    return statuses;
}
