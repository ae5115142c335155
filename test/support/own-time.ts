import { readFileSync } from 'node:fs';

/** Ticks of /proc/stat a second, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * A clock of the time that this machine had, in milliseconds: it stands still while a hypervisor gives a core that has work to somebody
 * else ("steal" in proc(5)), added up over the cores, since what waits in turn for several processes may wait on each of them.
 * For upper bounds only: timers, and so deadlines, go by the clock on the wall. The same as that one where nothing is stolen or told.
 */
export function ownTime(): number {
    return performance.now() - stolenMs();
}

function stolenMs(): number {
    try {
        const stolen = /^cpu +(?:\d+ +){7}(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
        return (Number(stolen ?? 0) * 1000) / TICKS_PER_SECOND;
    } catch {
        return 0;
    }
}
