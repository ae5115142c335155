import type { HostilePackage } from '../../test/hostile/packages.ts';
import type { Stranger, Target } from '../../test/hostile/stranger.ts';
import { STRANGERS } from '../../test/hostile/strangers.ts';
import { BEGIN } from './plan.ts';
import { HEARD, type StrangerPlan } from './stranger-plan.ts';

/**
 * Does what a row of the tables of strangers says: `node stranger.ts <plan as JSON>`. Prints a line when it begins. When it is stopped, it
 * prints how often it received each status, as JSON.
 */
const { row, isPlain, ...target } = JSON.parse(process.argv[2] ?? '') as StrangerPlan;
const found = STRANGERS.find(({ name }) => name === row);
if (found === undefined) throw new Error(`no stranger ${row}`);
const stop = new AbortController();
// Keeps the process alive, since a connection that is not read does not.
const kept = setInterval(() => undefined, 60_000);
process.once('SIGTERM', () => stop.abort());
const heard = await runOf(found)({ ...target, begun: () => void process.stdout.write(`${BEGIN}\n`) }, stop.signal);
clearInterval(kept);
process.stdout.write(`${HEARD}${JSON.stringify(Object.fromEntries(heard))}\n`, () => process.exit(0));

function runOf(stranger: Stranger): (target: Target, until: AbortSignal) => Promise<Map<number, number>> {
    return isPlain && stranger.kind === 'reading' ? (stranger as HostilePackage).runPlain : stranger.run;
}
