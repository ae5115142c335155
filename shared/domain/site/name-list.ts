import { domainToASCII } from 'node:url';

/** A list of host or domain names: `name` matches itself and all names below it, `*.suffix` only the names below it. */
export interface NameList {
    names: ReadonlySet<string>;
    suffixes: ReadonlySet<string>;
    /** Names that are exempt, including all names below them. */
    exempt: ReadonlySet<string>;
}

/** `line` counts from 1. */
type ReadNames = { ok: true; list: NameList } | { ok: false; line: number; problem: string };

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** Parses a list with one entry per line. `#` begins a comment, and `!name` exempts a name. */
export function readNames(text: string): ReadNames {
    const list = { names: new Set<string>(), suffixes: new Set<string>(), exempt: new Set<string>() };
    for (const [place, line] of text.split(/\r?\n/).entries()) {
        const entry = line.replace(/#.*/, '').trim().toLowerCase();
        if (entry === '') continue;
        const [, mark = '', written = ''] = /^(!|\*\.)?(.*)$/.exec(entry) ?? [];
        const name = domainToASCII(written);
        if (!NAME.test(name) || (mark !== '*.' && !name.includes('.')))
            return { ok: false, line: place + 1, problem: 'is not a domain name, *.suffix or !name' };
        if (mark === '!') list.exempt.add(name);
        else (mark === '*.' ? list.suffixes : list.names).add(name);
    }
    return { ok: true, list };
}

/** Merges two lists. A name that either list exempts is exempt. */
export function joinNames(a: NameList, b: NameList): NameList {
    return { names: both(a.names, b.names), suffixes: both(a.suffixes, b.suffixes), exempt: both(a.exempt, b.exempt) };
}

const both = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a, ...b]);

export function holdsName({ names, suffixes, exempt }: NameList, name: string): boolean {
    const labels = name.split('.');
    const above = labels.map((_, place) => labels.slice(place).join('.'));
    if (above.some((one) => exempt.has(one))) return false;
    return above.some((one, place) => names.has(one) || (place > 0 && suffixes.has(one)));
}
