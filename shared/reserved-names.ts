import { readFileSync } from 'node:fs';
import { type NameList, readNames } from './domain/name-list.ts';

/** Domains that nobody takes by coming first, as they are shipped. */
export const SHIPPED_RESERVED: NameList = shipped('reserved-domains.txt');

/** Hosts where users keep content under the name of somebody else. */
export const USER_CONTENT_HOSTS: NameList = shipped('user-content-hosts.txt');

function shipped(name: string): NameList {
    const read = readNames(readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8'));
    if (!read.ok) throw new Error(`shared/data/${name}:${read.line} ${read.problem}`);
    return read.list;
}
