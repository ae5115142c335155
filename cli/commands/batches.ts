import { type Command, Option } from 'commander';
import { BATCH_STATUSES, JOB_STATUSES } from '../../shared/domain/jobs/states.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { addCallOptions, CONNECTION, collect, examples, MAX_AGE, versionName } from './options.ts';

export function addBatchCommands(program: Command, run: Run): void {
    program.commandsGroup('Call sites many times:');
    const batch = program
        .command('batch')
        .description('call an endpoint for each row of a file')
        .addHelpText(
            'after',
            examples(
                [
                    'batch run products.csv --site demo-shop.example --endpoint product --map sku=id --out results.ndjson',
                    'batch run products.csv --site demo-shop.example --endpoint product --dry-run',
                    'batch follow bat_8sV… --out results.ndjson',
                ],
                'The key needs the scope jobs.',
            ),
        );
    batch
        .command('run')
        .description('call an endpoint for each item of a file and write the results as JSON lines')
        .argument('<file>', 'CSV, a JSON array or JSON lines; - for stdin')
        .requiredOption('--site <domain>', 'the site')
        .requiredOption('--endpoint <name>', 'its endpoint')
        .option('--map <column=param>', 'map a column to a param; by default to the param of the same name; repeatable', collect)
        .option('--out <file>', 'write the results to this file; stdout by default')
        .option('--name <text>', 'name of the batch')
        .option('--version <version>', 'number or hash; the latest by default', versionName)
        .option('--max-results <n>', 'maximum number of results of an item', wholeNumber(1, 1000))
        .option('--max-age <seconds>', MAX_AGE, wholeNumber(0, 86_400))
        .option('--timeout <ms>', 'milliseconds that one item may take', wholeNumber(1000, 120_000))
        .option('--connection <id>', CONNECTION)
        .option('--max-credits <n>', 'pause before the batch would cost more', wholeNumber(1, 1_000_000_000))
        .option('--stop-after-failures <n>', 'pause after this many failures', wholeNumber(1, 1_000_000))
        .option('--expires-in <seconds>', 'seconds that the batch may take', wholeNumber(60, 2_592_000))
        .option('--dry-run', 'validate and price all items; start nothing')
        .option('--detach', 'start the batch and do not wait')
        .addHelpText(
            'after',
            examples([
                'batch run products.csv --site demo-shop.example --endpoint product --map sku=id --out results.ndjson',
                'batch run - --site demo-shop.example --endpoint product --dry-run < products.csv',
            ]),
        )
        .action(run(async () => (await import('../batches/run-batch.ts')).runBatch));
    batch
        .command('follow')
        .description('write all results of a batch, until it ends')
        .argument('<batch>', 'bat_…')
        .option('--out <file>', 'write the results to this file; stdout by default')
        .action(run(async () => (await import('../batches/follow-batch.ts')).followKnownBatch));
    batch
        .command('list')
        .description('list batches, newest first')
        .addOption(new Option('--status <status>', 'only those with this status').choices(BATCH_STATUSES))
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../batches/batches.ts')).listBatches));
    const one = (name: string, act: 'get' | 'pause' | 'cancel', description: string) =>
        batch
            .command(name)
            .description(description)
            .argument('<batch>', 'bat_…')
            .action(run(async () => (await import('../batches/batches.ts')).actOnBatch(act)));
    one('show', 'get', 'show the progress of a batch');
    one('pause', 'pause', 'start no more items until the batch is resumed');
    batch
        .command('resume')
        .description('start the remaining items, with the rights of this key')
        .argument('<batch>', 'bat_…')
        .option('--max-credits <n>', 'new limit: pause before the batch would cost more', wholeNumber(1, 1_000_000_000))
        .option('--stop-after-failures <n>', 'pause after this many further failures', wholeNumber(1, 1_000_000))
        .action(run(async () => (await import('../batches/batches.ts')).resumeBatch));
    one('cancel', 'cancel', 'cancel the items that have not ended');
    batch
        .command('retry')
        .description('retry the items that did not succeed')
        .argument('<batch>', 'bat_…')
        .option('--code <code>', 'only items that failed with this code; repeatable', collect)
        .addHelpText('after', examples(['batch retry bat_8sV…', 'batch retry bat_8sV… --code UPSTREAM_TIMEOUT --code OVERLOADED']))
        .action(run(async () => (await import('../batches/batches.ts')).retryBatch));
    addJobCommands(program, run);
}

function addJobCommands(program: Command, run: Run): void {
    const job = program
        .command('job')
        .description('queue calls, and show queued ones and items of batches')
        .addHelpText(
            'after',
            examples(
                ['job add demo-shop.example product -p id=1 --wait', 'job list --status failed', 'job show job_5tR… --wait'],
                'The key needs the scope jobs.',
            ),
        );
    const add = job.command('add').description('queue one call; it waits for limits and credits where a fetch would be refused');
    addCallOptions(add, { version: 'the latest by default', cap: 'the call' })
        .option('--max-age <seconds>', MAX_AGE, wholeNumber(0, 86_400))
        .option('--timeout <ms>', 'milliseconds that one attempt may take', wholeNumber(1000, 120_000))
        .option('--expires-in <seconds>', 'seconds that the job may wait to start; 3600 by default', wholeNumber(60, 86_400))
        .option('--wait', 'wait for its end and show the result')
        .addHelpText('after', examples(['job add demo-shop.example product -p id=1 --wait']))
        .action(run(async () => (await import('../batches/jobs.ts')).addJob));
    job.command('list')
        .description('list jobs, newest first')
        .addOption(new Option('--status <status>', 'only those with this status').choices(JOB_STATUSES))
        .option('--site <domain>', 'only of this site')
        .option('--batch <id>', 'only items of this batch')
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../batches/jobs.ts')).listJobs));
    job.command('show')
        .description('show a job with its result')
        .argument('<job>', 'job_…')
        .option('--wait', 'wait for its end')
        .action(run(async () => (await import('../batches/jobs.ts')).showJob));
    job.command('cancel')
        .description('cancel a queued job or a running read')
        .argument('<job>', 'job_…')
        .action(run(async () => (await import('../batches/jobs.ts')).cancelJob));
}
