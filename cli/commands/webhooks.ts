import { type Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERY_STATUSES } from '../../shared/domain/events/delivery-schedule.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { examples } from './options.ts';

export function addWebhookCommands(program: Command, run: Run): void {
    program.commandsGroup('Get notified:');
    const webhook = program
        .command('webhook')
        .description('send events to a URL, or print them here')
        .addHelpText(
            'after',
            examples(
                ['webhook listen', "webhook add https://app.example/routebook --events 'job.*,credits.low'", 'webhook test whk_7gT…'],
                'The key needs the scopes account and jobs, and no limits on sites, endpoints, effects or connections.',
            ),
        );
    webhook
        .command('list')
        .description('list the webhooks of your workspace')
        .action(run(async () => (await import('../webhooks/webhooks.ts')).listWebhooks));
    webhook
        .command('add')
        .description('send events to a URL; the secret is shown once')
        .argument('<url>', 'https, on port 443')
        .requiredOption('--events <types>', 'event types, separated by commas; job.* means all that begin with job.', readTypes)
        .option('--description <text>', 'what it is for')
        .addHelpText('after', examples(["webhook add https://app.example/routebook --events 'job.*,batch.finished'"]))
        .action(run(async () => (await import('../webhooks/webhooks.ts')).addWebhook));
    const one = (name: 'show' | 'enable' | 'disable' | 'rotate' | 'delete' | 'test', description: string) =>
        webhook
            .command(name)
            .description(description)
            .argument('<webhook>', 'whk_…')
            .action(run(async () => (await import('../webhooks/webhooks.ts'))[`${name}Webhook`]));
    one('show', 'show one webhook');
    webhook
        .command('change')
        .description('change the URL, the events or the description')
        .argument('<webhook>', 'whk_…')
        .option('--url <url>', 'https, on port 443')
        .option('--events <types>', 'new event types, separated by commas', readTypes)
        .option('--description <text>', 'what it is for')
        .action(run(async () => (await import('../webhooks/webhooks.ts')).changeWebhook));
    one('enable', 'send events again, from now on');
    one('disable', 'send no events until it is enabled');
    one('rotate', 'make a new secret; the old one also signs for 24 hours');
    one('delete', 'delete a webhook');
    one('test', 'send a test event and show what the receiver answers');
    webhook
        .command('deliveries')
        .description('list deliveries, newest first')
        .argument('<webhook>', 'whk_…')
        .addOption(new Option('--status <status>', 'only those with this status').choices(DELIVERY_STATUSES))
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 100), 20)
        .action(run(async () => (await import('../webhooks/webhooks.ts')).listDeliveries));
    webhook
        .command('redeliver')
        .description('send a delivery again and show what the receiver answers')
        .argument('<webhook>', 'whk_…')
        .argument('<delivery>', 'dlv_…')
        .action(run(async () => (await import('../webhooks/webhooks.ts')).redeliver));
    webhook
        .command('listen')
        .description('print events as they happen; with --json one line each, with the results of jobs')
        .option('--events <types>', 'event types, separated by commas; all by default', readTypes, [])
        .action(run(async () => (await import('../webhooks/listen.ts')).listen));
}

function readTypes(text: string): string[] {
    const types = text.split(',').map((type) => type.trim());
    if (types.every((type) => /^[a-z]+\.([a-z_]+|\*)$/.test(type))) return types;
    throw new InvalidArgumentError('Use types separated by commas, such as job.succeeded,credits.*');
}
