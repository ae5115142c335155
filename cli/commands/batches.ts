import { type Command, Option } from 'commander';
import { BATCH_STATUSES, type BatchStatus, JOB_STATUSES, type JobStatus } from '../../shared/domain/jobs/states.ts';
import type { FollowTo } from '../batches/follow-batch.ts';
import type { RunOptions } from '../batches/run-batch.ts';
import type { Run } from '../session.ts';
import { collect, examples, versionName, wholeNumber } from './options.ts';

/** Calls by the thousand, and single ones that are answered later. */
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
        .description('order a call for each item of a file, and write what they came to, one JSON line each')
        .argument('<file>', 'CSV, a JSON array or lines of JSON; - for stdin')
        .requiredOption('--site <domain>', 'the site')
        .requiredOption('--endpoint <name>', 'its endpoint')
        .option('--map <column=param>', 'the param that a column is; by default the one of its name; may be repeated', collect)
        .option('--out <file>', 'where the results go; stdout by default')
        .option('--name <text>', 'what it is called')
        .option('--version <version>', 'number or hash; the latest by default', versionName)
        .option('--max-credits <n>', 'pause before it costs more', wholeNumber(1, 1_000_000_000))
        .option('--stop-after-failures <n>', 'pause after so many failures', wholeNumber(1, 1_000_000))
        .option('--expires-in <seconds>', 'how long it may take', wholeNumber(60, 2_592_000))
        .option('--dry-run', 'judge and price all items; order nothing')
        .option('--detach', 'order it and do not wait')
        .action((file: string, options: RunOptions, command: Command) =>
            run(command, async (session) => (await import('../batches/run-batch.ts')).runBatch(session, file, options)),
        );
    batch
        .command('follow')
        .description('write the results of a batch, from its first one until it ends')
        .argument('<batch>', 'bat_…')
        .option('--out <file>', 'where the results go; stdout by default')
        .action((id: string, options: FollowTo, command: Command) =>
            run(command, async (session) => (await import('../batches/follow-batch.ts')).followBatch(session, id, options)),
        );
    batch
        .command('list')
        .description('list batches, the newest first')
        .addOption(new Option('--status <status>', 'these alone').choices(BATCH_STATUSES))
        .option('--limit <n>', 'so many at most', wholeNumber(1, 100), 20)
        .action((options: { status?: BatchStatus; limit: number }, command: Command) =>
            run(command, async (session) => (await import('../batches/batches.ts')).listBatches(session, options)),
        );
    batch
        .command('show')
        .description('show how far a batch is')
        .argument('<batch>', 'bat_…')
        .action((id: string, _options: object, command: Command) =>
            run(command, async (session) => (await import('../batches/batches.ts')).showBatch(session, id)),
        );
    batch
        .command('cancel')
        .description('cancel what has not ended')
        .argument('<batch>', 'bat_…')
        .action((id: string, _options: object, command: Command) =>
            run(command, async (session) => (await import('../batches/batches.ts')).cancelBatch(session, id)),
        );
    batch
        .command('retry')
        .description('run items again that did not succeed')
        .argument('<batch>', 'bat_…')
        .option('--code <code>', 'those that failed with it alone; may be repeated', collect)
        .action((id: string, options: { code?: string[] }, command: Command) =>
            run(command, async (session) => (await import('../batches/batches.ts')).retryBatch(session, id, options)),
        );
    addJobCommands(program, run);
}

function addJobCommands(program: Command, run: Run): void {
    const job = program
        .command('job')
        .description('calls that are answered later, items of batches too')
        .addHelpText('after', examples(['job list --status failed', 'job show job_5tR… --wait'], 'The key needs the scope jobs.'));
    job.command('list')
        .description('list jobs, the newest first')
        .addOption(new Option('--status <status>', 'these alone').choices(JOB_STATUSES))
        .option('--site <domain>', 'of this site alone')
        .option('--batch <id>', 'of this batch alone')
        .option('--limit <n>', 'so many at most', wholeNumber(1, 100), 20)
        .action((options: { status?: JobStatus; site?: string; batch?: string; limit: number }, command: Command) =>
            run(command, async (session) => (await import('../batches/jobs.ts')).listJobs(session, options)),
        );
    job.command('show')
        .description('show a job with its result')
        .argument('<job>', 'job_…')
        .option('--wait', 'wait for its end')
        .action((id: string, options: { wait?: true }, command: Command) =>
            run(command, async (session) => (await import('../batches/jobs.ts')).showJob(session, id, options)),
        );
    job.command('cancel')
        .description('cancel a job that is queued, or a running read')
        .argument('<job>', 'job_…')
        .action((id: string, _options: object, command: Command) =>
            run(command, async (session) => (await import('../batches/jobs.ts')).cancelJob(session, id)),
        );
}
