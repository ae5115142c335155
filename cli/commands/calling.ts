import { type Command, Option } from 'commander';
import type { FetchOptions } from '../calling/fetch-endpoint.ts';
import type { FindOptions } from '../calling/find-endpoints.ts';
import type { RequestOptions } from '../calling/request-schema.ts';
import type { Run } from '../session.ts';
import { collect, examples, versionName, wholeNumber } from './options.ts';

/** What callers do. */
export function addCallingCommands(program: Command, run: Run): void {
    program.commandsGroup('Call sites:');
    program
        .command('find')
        .description('find endpoints of all sites by what you want to do')
        .argument('<task>', 'in your own words')
        .option('--category <path>', 'of this category alone; a parent includes all below it')
        .addOption(new Option('--effect <which>', 'reads or writes alone').choices(['read', 'write']))
        .option('--site <domain>', 'of this site alone')
        .option('--verified', 'verified ones alone')
        .option('--limit <n>', 'so many at most', wholeNumber(1, 50), 5)
        .option('--cursor <cursor>', 'go on where a list ended')
        .addHelpText('after', examples(["find 'currency rates of last year'", "find 'order a product' --effect write"]))
        .action((task: string, options: FindOptions, command: Command) =>
            run(command, async (session) => (await import('../calling/find-endpoints.ts')).findEndpoints(session, task, options)),
        );
    program
        .command('catalog')
        .description('look a site up: every endpoint, the best matches of your intent first')
        .argument('<domain>')
        .requiredOption('--intent <text>', 'what you want to do there: 20 characters and 5 distinct words at least')
        .addHelpText('after', examples(["catalog openlibrary.org --intent 'find the works of an author by name'"]))
        .action((domain: string, options: { intent: string }, command: Command) =>
            run(command, async (session) => (await import('../calling/look-up-catalog.ts')).lookUpCatalog(session, domain, options)),
        );
    program
        .command('fetch')
        .description('let Routebook call an endpoint: the result on stdout, what it cost on stderr')
        .argument('<site>')
        .argument('<endpoint>')
        .option('-p, --param <name=value>', 'a param; name:=json for JSON, name=@path for a file; may be repeated', collect)
        .option('--params <json>', 'all params as one JSON object')
        .option('--dry-run', 'show the request and the greatest cost; send and charge nothing')
        .option('--max-credits <n>', 'spending cap of this call', wholeNumber(1, 1_000_000_000))
        .option('--max-results <n>', 'so many results at most', wholeNumber(1, 1000))
        .option('--max-pages <n>', 'of an endpoint with pages: so many at most', wholeNumber(1, 20))
        .option('--cursor <cursor>', 'go on where a call over pages stopped: the next_cursor that it printed')
        .option('--partial', 'where a page after the first fails, print the pages before it')
        .option('--max-age <seconds>', 'an equal result that is no older may be served for 0 credits', wholeNumber(0, 86_400))
        .option('--timeout <ms>', 'the whole wait', wholeNumber(1000, 120_000))
        .option('--version <version>', 'number or hash; the latest by default', versionName)
        .option('--session <id>', 'the session_id of the look-up that led here')
        .option('--idempotency-key <key>', 'the same key again gets the same answer; one is made for each call by default')
        .addHelpText(
            'after',
            examples([
                'fetch demo-shop.example search_products --param q=shoes',
                `fetch demo-shop.example place_order --params '{"product_id": 3}' --dry-run`,
            ]),
        )
        .action((site: string, endpoint: string, options: FetchOptions, command: Command) =>
            run(command, async (session) => (await import('../calling/fetch-endpoint.ts')).fetchEndpoint(session, site, endpoint, options)),
        );
    addRequest(program, run);
}

function addRequest(program: Command, run: Run): void {
    program
        .command('request')
        .description('ask for a schema of a site, or see how a request stands')
        .argument('<domain|request_id>', 'a site, or the id of a request (srq_…)')
        .option('--task <text>', 'the workflow that is brittle today: 20 to 4000 characters')
        .addOption(new Option('--read-or-write <which>', 'what it does').choices(['read', 'write', 'read_write']))
        .addOption(new Option('--auth-shape <which>', 'who may do it').choices(['public', 'anonymous', 'login', 'oauth', 'owner_approved']))
        .option('--output-shape <text>', 'what should come back')
        .option('--failure-mode <text>', 'how it breaks today')
        .option('--category <path>', 'what the site is for')
        .option('--source-url <url>', 'a page where it happens')
        .addOption(new Option('--frequency <which>', 'how often').choices(['once', 'daily', 'hourly', 'continuous']))
        .option('--contact <text>', 'how to reach you; never shown')
        .addHelpText(
            'after',
            examples(["request shop.example --task 'compare the prices of one product over all sizes'", 'request srq_4fQ…']),
        )
        .action((subject: string, options: RequestOptions, command: Command) =>
            run(command, async (session) => (await import('../calling/request-schema.ts')).requestSchema(session, subject, options)),
        );
}
