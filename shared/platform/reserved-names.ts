import { readFileSync } from 'node:fs';
import { getOrMake } from '../domain/get-or-make.ts';
import { type NameList, readNames } from '../domain/site/name-list.ts';

/** Domains on which publishers need a proof or an operator's permission, as shipped. */
export const shippedReserved = (): NameList => shipped('reserved-domains.txt');

export const userContentHosts = (): NameList => shipped('user-content-hosts.txt');

/** Mail providers at which anybody can get an address. */
export const publicMailProviders = (): NameList => shipped('public-mail-providers.txt');

const lists = new Map<string, NameList>();

/** Read on first use, because the command line reads settings too but is published without these files. */
function shipped(name: string): NameList {
    return getOrMake(lists, name, () => {
        const read = readNames(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8'));
        if (!read.ok) throw new Error(`shared/data/${name}:${read.line} ${read.problem}`);
        return read.list;
    });
}
