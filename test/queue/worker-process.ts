import { openQueue } from '../../shared/coordination/queue/queue.ts';
import { testSecretsAlone } from '../support/secrets.ts';
import { type Place, silent, success } from './jobs.ts';

/**
 * A worker in its own process, which a test can kill. It never finishes jobs of the endpoint `hang`, and prints `taken` when it has one.
 */
const [place = ''] = process.argv.slice(2);
const queue = openQueue({ ...parsePlace(place), secrets: testSecretsAlone(), role: 'worker', log: silent });
queue.consume(
    async (job) => {
        if (job.endpoint === 'hang') {
            process.stdout.write('taken\n');
            await new Promise(() => undefined);
        }
        return success();
    },
    { concurrency: 8 },
);

function parsePlace(text: string): Place {
    return JSON.parse(text);
}
