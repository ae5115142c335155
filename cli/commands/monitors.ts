import { type Command, Option } from 'commander';
import { MONITOR_STATUSES } from '../../shared/domain/monitors/states.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { addCallOptions, examples } from './options.ts';

export function addMonitorCommands(program: Command, run: Run): void {
    program.commandsGroup('Watch sites:');
    const monitor = program
        .command('monitor')
        .description('call an endpoint on a schedule and report changes of its result')
        .addHelpText(
            'after',
            examples(
                [
                    'monitor add demo-shop.example search_products -p q=shoes --every 1h --identity id',
                    "monitor add demo-shop.example search_products -p q=shoes --cron '0 8 * * 1-5' --timezone Europe/Berlin",
                    'monitor changes mon_3kT…',
                    "webhook add https://app.example/routebook --events 'monitor.*'",
                ],
                'The key needs the scope jobs. Each run is a job, billed as one.',
            ),
        );
    const add = monitor.command('add').description('watch a read endpoint; needs either --every or --cron');
    addScheduleOptions(addCallOptions(add, { version: 'by default each run uses the latest', cap: 'a run' })).action(
        run(async () => (await import('../monitors/monitors.ts')).addMonitor),
    );
    monitor
        .command('list')
        .description('list monitors, newest first')
        .addOption(new Option('--status <status>', 'only those with this status').choices(MONITOR_STATUSES))
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../monitors/monitors.ts')).listMonitors));
    const one = (name: 'show' | 'pause' | 'resume' | 'run' | 'delete', description: string) =>
        monitor
            .command(name)
            .description(description)
            .argument('<monitor>', 'mon_…')
            .action(run(async () => (await import('../monitors/monitors.ts'))[`${name}Monitor`]));
    one('show', 'show a monitor with its last run');
    addScheduleOptions(
        monitor.command('change').description('change the schedule, the watched value or the notifications').argument('<monitor>', 'mon_…'),
    ).action(run(async () => (await import('../monitors/monitors.ts')).changeMonitor));
    one('pause', 'pause it until it is resumed');
    one('resume', 'resume it, with the rights of this key');
    one('run', 'run it now and show the outcome');
    one('delete', 'delete a monitor with its runs and changes');
    monitor
        .command('changes')
        .description('show what was added, removed and changed, newest first')
        .argument('<monitor>', 'mon_…')
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../monitors/history.ts')).listChanges));
    monitor
        .command('runs')
        .description('list its runs, newest first')
        .argument('<monitor>', 'mon_…')
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../monitors/history.ts')).listRuns));
}

function addScheduleOptions(command: Command): Command {
    return command
        .option('--name <text>', 'name of the monitor')
        .option('--every <time>', 'how often: 15m, 1h, 1d')
        .option('--cron <fields>', 'instead of --every: five cron fields, such as "0 8 * * 1-5"')
        .option('--timezone <name>', 'timezone of --cron; UTC by default')
        .option('--watch <jmespath>', 'the watched part of the data; all by default')
        .option('--identity <jmespath>', "JMESPath of an item's id; matches list items between runs")
        .addOption(new Option('--when <which>', 'report changes or every run').choices(['changed', 'always']))
        .option('--tell-if <jmespath>', 'report if this expression over {before, after, diff} is true; instead of --when')
        .option('--max-credits-per-day <n>', 'maximum number of credits that the runs of a day may cost', wholeNumber(1, 1_000_000_000));
}
