import { existsSync } from 'node:fs';
import { stolenSeconds } from '../../bench/stack/processes.ts';

const isTold = existsSync('/proc/stat');

/**
 * A clock of the time that this machine had, in milliseconds: it stands still while a hypervisor gives a core that has work to somebody
 * else, added up over the cores, since what waits in turn for several processes may wait on each of them. For upper bounds only: timers,
 * and so deadlines, go by the clock on the wall. The same as that one where nothing is stolen, and where the system does not tell.
 */
export function ownTime(): number {
    return performance.now() - (isTold ? stolenSeconds() * 1000 : 0);
}
