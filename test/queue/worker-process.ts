import { setTimeout as sleep } from 'node:timers/promises';
import { openQueue } from '../../shared/coordination/queue/queue.ts';
import { testSecretsAlone } from '../support/secrets.ts';
import { eventually, isUp, type Place, silent, success } from './jobs.ts';

/**
 * A worker in its own process, which a test can kill. It prints `ready` when it reaches the store. It never finishes jobs of the endpoint
 * `hang`, and prints `taken` when it has one. Jobs of `slow` take longer than the check for dead workers needs.
 */
const SLOW_MS = 4000;
const [place = ''] = process.argv.slice(2);
const queue = openQueue({ ...parsePlace(place), secrets: testSecretsAlone(), role: 'worker', log: silent });
await eventually('the store answers', () => isUp(queue));
queue.consume(
    async (job) => {
        if (job.endpoint === 'hang') {
            process.stdout.write('taken\n');
            await new Promise(() => undefined);
        }
        if (job.endpoint === 'slow') await sleep(SLOW_MS);
        return success();
    },
    { concurrency: 8 },
);

process.stdout.write('ready\n');

function parsePlace(text: string): Place {
    return JSON.parse(text);
}
