import { type Command, Option } from 'commander';
import { AUTH_SHAPES, FREQUENCIES, READ_OR_WRITE } from '../../shared/domain/site/schema-request.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { addCallOptions, examples, joined, MAX_AGE } from './options.ts';

export function addCallingCommands(program: Command, run: Run): void {
    program.commandsGroup('Call sites:');
    program
        .command('find')
        .description('find endpoints of all sites by what you want to do')
        .argument('<task...>', 'in your own words', joined)
        .option('--category <path>', 'only of this category; a parent includes its children')
        .addOption(new Option('--effect <which>', 'only reads or only writes').choices(['read', 'write']))
        .option('--site <domain>', 'only of this site')
        .option('--verified', 'only verified ones')
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 50), 5)
        .option('--cursor <cursor>', 'continue a list with the cursor that it printed')
        .addHelpText('after', examples(["find 'currency rates of last year'", "find 'order a product' --effect write"]))
        .action(run(async () => (await import('../calling/find-endpoints.ts')).findEndpoints));
    program
        .command('catalog')
        .description('list every endpoint of a site, best matches of your intent first')
        .argument('<domain>')
        .argument('[intent...]', 'what you want to do: at least 20 characters and 5 distinct words', joined)
        .option('--intent <text>', 'the same in one option')
        .addHelpText('after', examples(["catalog openlibrary.org --intent 'find the works of an author by name'"]))
        .action(run(async () => (await import('../calling/look-up-catalog.ts')).lookUpCatalog));
    const fetch = program.command('fetch').description('call an endpoint through Routebook: result to stdout, cost to stderr');
    addCallOptions(fetch, { version: 'the latest by default', cap: 'this call' })
        .option('--dry-run', 'show the request and its maximum price; send and charge nothing')
        .option('--cursor <cursor>', 'continue a paginated call with the next_cursor that it printed')
        .option('--partial', 'if a page after the first fails, print the pages before it')
        .option('--max-age <seconds>', MAX_AGE, wholeNumber(0, 86_400))
        .option('--timeout <ms>', 'milliseconds to wait in all', wholeNumber(1000, 120_000))
        .option('--session <id>', 'the session_id of the preceding look-up')
        .option('--idempotency-key <key>', 'repeating a key returns the same answer; by default each call gets a new one')
        .addHelpText(
            'after',
            examples([
                'fetch demo-shop.example search_products --param q=shoes',
                `fetch demo-shop.example place_order --params '{"product_id": 3}' --dry-run`,
            ]),
        )
        .action(run(async () => (await import('../calling/fetch-endpoint.ts')).fetchEndpoint));
    addRequest(program, run);
}

function addRequest(program: Command, run: Run): void {
    program
        .command('request')
        .description('request a schema for a site, or show the state of a request')
        .argument('<domain|request_id>', 'a site, or the id of a request (srq_…)')
        .option('--task <text>', 'the workflow that is brittle today: 20 to 4000 characters')
        .addOption(new Option('--read-or-write <which>', 'what the workflow does').choices(READ_OR_WRITE))
        .addOption(new Option('--auth-shape <which>', 'how the workflow signs in').choices(AUTH_SHAPES))
        .option('--output-shape <text>', 'the output that you need')
        .option('--failure-mode <text>', 'how it fails today')
        .option('--category <path>', 'the category of the site')
        .option('--source-url <url>', 'the page where the workflow begins')
        .addOption(new Option('--frequency <which>', 'how often the workflow runs').choices(FREQUENCIES))
        .option('--contact <text>', 'how to contact you; only the operator sees it')
        .addHelpText(
            'after',
            examples(["request shop.example --task 'compare the prices of one product over all sizes'", 'request srq_4fQ…']),
        )
        .action(run(async () => (await import('../calling/request-schema.ts')).requestSchema));
}
