import { lookup } from 'node:dns/promises';
import { registrableDomain } from '../../shared/domain/site-name.ts';

/** Every address that a name has at the moment, by the system's resolver. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * The system's resolver, with a bound for each owner: a lookup holds one of the few threads that this process has for them, for as
 * long as a name server likes, and cannot be called back. Equal names share one lookup, and the names of one registrable domain are
 * looked up one after the other, so that a site whose name server never answers takes one thread and not all.
 */
export function createLookup(lookUp: Lookup = systemLookup): Lookup {
    const running = new Map<string, Promise<readonly string[]>>();
    const lines = new Map<string, Promise<unknown>>();
    const inLine = (owner: string, host: string): Promise<readonly string[]> => {
        const mine = (lines.get(owner) ?? Promise.resolve()).then(() => lookUp(host));
        const settled = mine.then(
            () => undefined,
            () => undefined,
        );
        lines.set(owner, settled);
        void settled.then(() => {
            if (lines.get(owner) === settled) lines.delete(owner);
        });
        return mine;
    };
    return (host) => {
        const known = running.get(host);
        if (known !== undefined) return known;
        const mine = inLine(registrableDomain(host) ?? host, host).finally(() => running.delete(host));
        running.set(host, mine);
        return mine;
    };
}

async function systemLookup(host: string): Promise<readonly string[]> {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}
