import { type Command, Option } from 'commander';
import { DOWNLOAD_FORMATS, LIST_SORTS, YANK_REASONS } from '../../shared/domain/package/registry-choices.ts';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import type { Run } from '../session.ts';
import { examples, joined, versionName } from './options.ts';

/** The commands for published schemas. */
export function addRegistryCommands(program: Command, run: Run): void {
    program.commandsGroup('The registry:');
    const list = program.command('list').description('list what is published');
    addListOptions(list).action(run(async () => (await import('../registry/lists.ts')).listSchemas));
    const search = program
        .command('search')
        .description('find sites by name or title; matches prefixes and corrects typos')
        .argument('<q...>', 'words to search for', joined);
    addListOptions(search).action(run(async () => (await import('../registry/lists.ts')).searchSchemas));
    program
        .command('categories')
        .description('list the categories of the registry')
        .action(run(async () => (await import('../registry/lists.ts')).listCategories));
    program
        .command('pull')
        .description('download the package of a site, or the site in another format')
        .argument('<site>')
        .option('--version <version>', 'number or hash; the latest by default', versionName)
        .addOption(new Option('--format <format>', 'what to download').choices(DOWNLOAD_FORMATS).default('routebook'))
        .option('-o, --out <file>', 'write to this file; stdout by default')
        .option('--force', 'replace an existing file')
        .addHelpText('after', examples(['pull shop.example -o shop.example.json', 'pull shop.example --format openapi']))
        .action(run(async () => (await import('../registry/pull-package.ts')).pullPackage));
    program
        .command('add')
        .description("write typed functions for a site's hosted endpoints into your program")
        .argument('<site>')
        .option('--version <version>', 'number or hash; the latest by default', versionName)
        .option('--endpoint <name...>', 'only these endpoints')
        .option('-o, --out <folder>', 'write to this folder', 'src/routebook')
        .addHelpText(
            'after',
            examples(
                ['add shop.example', 'add shop.example --endpoint search_products', 'add shop.example --version 3 --out lib/sites'],
                'The file is TypeScript that uses routebook/client, pinned to the version. It replaces an existing file.',
            ),
        )
        .action(run(async () => (await import('../registry/add-site.ts')).addSite));
    program
        .command('update')
        .description('update the functions of "add" to the latest versions, and show how their types changed')
        .argument('[site...]', 'only these sites')
        .option('-o, --out <folder>', 'the folder of the files', 'src/routebook')
        .option('--dry-run', 'show what would change; write nothing')
        .addHelpText('after', examples(['update', 'update shop.example --dry-run']))
        .action(run(async () => (await import('../registry/update-sites.ts')).updateSites));
    program
        .command('versions')
        .description("show a site's history, newest first")
        .argument('<site>')
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 10_000), 20)
        .action(run(async () => (await import('../registry/lists.ts')).listVersions));
    program
        .command('yank')
        .description('yank a version: calls that name no version skip it')
        .argument('<site>')
        .argument('<version>', 'its number', wholeNumber(1, 999_999_999))
        .addOption(
            new Option('--reason <reason>', 'broken: still callable if pinned; security, legal: never callable').choices(YANK_REASONS),
        )
        .option('--undo', 'restore the version')
        .action(run(async () => (await import('../registry/yank-version.ts')).yankVersion));
}

function addListOptions(command: Command): Command {
    return command
        .option('--category <path>', 'only of this category; a parent includes its children')
        .option('--verified', 'only verified ones')
        .addOption(new Option('--sort <order>', 'order of the list').choices(LIST_SORTS))
        .option('--limit <n>', 'how many to list at most', wholeNumber(1, 10_000), 20)
        .option('--cursor <cursor>', 'continue a list with the cursor that it printed');
}
