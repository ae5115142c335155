import { type Command, Option } from 'commander';
import { KINDS, METHODS } from '../../shared/domain/types.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { collect, examples } from './options.ts';

export function addAuthoringCommands(program: Command, run: Run): void {
    program.commandsGroup('Write a schema:');
    addInspect(program, run);
    addImport(program, run);
    addInit(program, run);
    program
        .command('lint')
        .description('check packages by the rules of the registry and list every problem')
        .argument('<file...>', 'packages; - is stdin')
        .addHelpText('after', examples(['lint shop.example.json'], 'Nothing is fetched and nothing is sent.'))
        .action(run(async () => (await import('../authoring/lint-packages.ts')).lintPackages));
    addTest(program, run);
    program
        .command('diff')
        .description('show what publishing a package would change, and whether that is major, minor or patch')
        .argument('<file>', 'the package; - is stdin')
        .action(run(async () => (await import('../authoring/diff-package.ts')).diffPackage));
    program
        .command('push')
        .description('publish a package as the next version of its site')
        .argument('<file>', 'the package; - is stdin')
        .option('--dry-run', 'let the server check the package; store nothing')
        .option('--if-match <hash>', 'publish only if this is still the latest version')
        .option('--wait <seconds>', 'wait until the version is verified', wholeNumber(1, 86_400))
        .addHelpText('after', examples(['push shop.example.json --dry-run', 'push shop.example.json --wait 120']))
        .action(run(async () => (await import('../authoring/push-package.ts')).pushPackage));
}

function addInspect(program: Command, run: Run): void {
    addDraftOptions(
        program
            .command('inspect')
            .description('draft a package from a site, a recording (HAR) or an OpenAPI document')
            .argument('<source>', 'an address to open in your browser, a HAR file (- is stdin), or an OpenAPI document'),
    )
        .addOption(
            new Option(
                '--examples <which>',
                'which recorded calls become public examples; on a terminal the default is ask, otherwise none',
            ).choices(['ask', 'none', 'all']),
        )
        .option('--browser <program>', 'the browser that opens an address; Chromium, Chrome or Edge by default')
        .addHelpText(
            'after',
            examples(
                ['inspect https://shop.example', 'inspect session.har', 'inspect openapi.json --category developer/packages'],
                'The draft contains only names, types and shapes of a recording. Secrets and\npersonal values are removed while it is read, and listed.',
            ),
        )
        .action(run(async () => (await import('../authoring/inspect-site.ts')).inspectSite));
}

function addImport(program: Command, run: Run): void {
    addDraftOptions(
        program
            .command('import')
            .description('draft a package from a package of another registry, or from an OpenAPI document')
            .argument('<file>', 'a package of the format 0.1, or OpenAPI 3 or Swagger 2.0 in JSON or YAML'),
    )
        .option(
            '--only <tag|path|method>',
            'only operations with this tag, method or path (and those below it; * matches a part); may be repeated',
            collect,
        )
        .option('--single', 'make one package; if it is too large, keep the most useful operations')
        .addHelpText(
            'after',
            examples(
                ['import openapi.yaml', 'import openapi.yaml --only GET --only /orders', 'import package.json --out shop.json'],
                'Parts that cannot be imported are listed with the reason. A document with more\noperations than a package may have becomes several packages, by tag.',
            ),
        )
        .action(run(async () => (await import('../authoring/import-package.ts')).importPackage));
}

function addDraftOptions(command: Command): Command {
    return command
        .option('--site <domain>', 'the site; by default that of the source')
        .option('--title <text>', 'title of the site')
        .option('--category <path>', 'what the site is for; guessed by default')
        .option('-o, --out <file>', 'write to this file; <site>.json by default, - is stdout')
        .option('--force', 'replace an existing file');
}

function addInit(program: Command, run: Run): void {
    program
        .command('init')
        .description('draft a package from your answers, or from --url and --category')
        .option('--url <url>', 'address of a page or an API; {braces} and its query become params')
        .option('--category <path>', 'what the site is for, such as commerce/product-search')
        .option('--site <domain>', 'the site; by default that of the URL')
        .option('--title <text>', 'title of the site')
        .option('--description <text>', 'what the site offers')
        .option('--name <name>', 'name of the endpoint')
        .addOption(new Option('--method <method>', 'method of the endpoint; GET by default').choices(METHODS))
        .addOption(new Option('--kind <kind>', 'kind of the endpoint; api_call by default').choices(KINDS))
        .option('--example <name=value>', 'a working value of a param; may be repeated', collect)
        .option('-o, --out <file>', 'write to this file; <site>.json by default, - is stdout')
        .option('--force', 'replace an existing file')
        .addHelpText(
            'after',
            examples(['init', "init --url 'https://shop.example/products/{id}' --example id=7 --category commerce/product-detail"]),
        )
        .action(run(async () => (await import('../authoring/init-package.ts')).initPackage));
}

function addTest(program: Command, run: Run): void {
    program
        .command('test')
        .description('call the examples of a package from this machine, as a worker would')
        .argument('<file>', 'the package; - is stdin')
        .argument('[endpoint]', 'only this endpoint')
        .option('--allow-writes <endpoint>', 'send this write too; may be repeated', collect)
        .option(
            '-p, --param <name=value>',
            'call the endpoint with this param instead of its examples; name:=json for JSON, name=@path for a file',
            collect,
        )
        .option('--params <json>', 'all params as one JSON object')
        .option('--timeout <ms>', 'milliseconds that each call may take', wholeNumber(1000, 120_000), 30_000)
        .option('--pause <ms>', 'milliseconds between two calls', wholeNumber(0, 60_000), 1000)
        .option('--show', 'print the result; only the beginning of a large one')
        .addHelpText(
            'after',
            examples(
                [
                    'test shop.example.json',
                    'test shop.example.json product --param id=7 --show',
                    'test shop.example.json --allow-writes place_order',
                ],
                'Calls sites like a worker: public https only, unless EGRESS_ALLOW allows more.\nSends only the writes that --allow-writes names.',
            ),
        )
        .action(run(async () => (await import('../authoring/test-package.ts')).testPackage));
}
