import { autocomplete, intro, isCancel, outro, text } from '@clack/prompts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import type { Kind, Method } from '../../shared/domain/types.ts';
import { CommandFault, detailLines, wrongUsage } from '../failures.ts';
import { cancelled, type Done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { type DraftOrder, draftPackage, endpointNameOf, placeholdersOf, siteOf } from './draft-package.ts';
import { type DraftPlace, draftFile, textOf, withEditorSchema, writeDraft } from './write-draft.ts';

/** `routebook init`: writes a first draft from flags or questions. The draft passes the rules. */
export async function initPackage({ terminal, settings, note, server }: Session, options: InitOptions): Promise<Done> {
    const isWhole = options.url !== undefined && options.category !== undefined;
    if (!isWhole && !terminal.isInteractive) {
        throw wrongUsage('without a terminal, --url and --category are required, such as --category commerce/product-search');
    }
    const order = isWhole ? orderOf(options) : await askForDraft(options, orderOf);
    const document = withEditorSchema(draftPackage(order), server);
    const unused = Object.keys(order.examples).find((name) => !document.endpoints[0]?.params?.some((param) => param.name === name));
    if (unused !== undefined) throw wrongUsage(`--example ${unused}: the URL has no {${unused}} and no ${unused} in its query`);
    const { egressAllow } = settings.egress();
    const verdict = checkPackage(document, { isPortAllowed: (port) => isPortAllowed(egressAllow, port) });
    if (!verdict.ok) {
        const lines = detailLines(verdict.problems, terminal.paintError);
        throw new CommandFault('SCHEMA_INVALID', 'This draft breaks the rules of the registry:', {
            lines,
            fields: { details: verdict.problems },
        });
    }
    const file = options.out ?? draftFile(document.site);
    if (file === '-') return { result: { file: null, package: document }, lines: textOf(document).trimEnd().split('\n') };
    await writeDraft(file, document, options);
    const { paint } = terminal;
    for (const { code, message } of verdict.warnings) note(`! ${code}: ${message}`);
    const lines = [
        `${paint('green', '✓')} ${paint('bold', file)} is a draft of ${document.site}.`,
        '  Describe its endpoints, params and answers, then:',
        `    ${PROGRAM} lint ${file}   ${paint('dim', 'the rules of the registry')}`,
        `    ${PROGRAM} test ${file}   ${paint('dim', 'calls its examples from here')}`,
        `    ${PROGRAM} push ${file}   ${paint('dim', 'publishes it')}`,
    ];
    return { result: { file, package: document, warnings: verdict.warnings }, lines };
}

function orderOf(options: InitOptions): DraftOrder {
    const { url = '', category = '', description = '', method = 'GET', kind = 'api_call' } = options;
    const site = options.site ?? siteOf(url);
    if (site === undefined)
        throw wrongUsage('--url must be the URL of a page or an API of the site, such as https://shop.example/products/{id}');
    const name = options.name ?? endpointNameOf(url);
    return { url, site, title: options.title ?? site, description, category, name, method, kind, examples: readExamples(options.example) };
}

function readExamples(pairs: readonly string[] = []): Record<string, string> {
    const read = pairs.map((pair): [string, string] => {
        const at = pair.indexOf('=');
        if (at < 1) throw wrongUsage(`--example must be name=value, not ${JSON.stringify(pair)}`);
        return [pair.slice(0, at), pair.slice(at + 1)];
    });
    return Object.fromEntries(read);
}

/** Asks for every value that no flag gives. Questions go to stderr, so that stdout has only the result. */
async function askForDraft(options: InitOptions, orderOf: (options: InitOptions) => DraftOrder): Promise<DraftOrder> {
    const output = process.stderr;
    intro('A draft of a schema', { output });
    const url =
        options.url ??
        requireAnswer(
            await text({
                output,
                message: 'URL of a page or an API of the site; {braces} mark the variable parts',
                placeholder: 'https://shop.example/products/{id}',
                validate: (value) => (siteOf(value ?? '') === undefined ? 'Enter a complete URL that begins with https://' : undefined),
            }),
        );
    const category = options.category ?? (await askForCategory(output));
    const guess = orderOf({ ...options, url, category });
    const title = options.title ?? requireAnswer(await text({ output, message: 'Title of the site', initialValue: guess.title }));
    const name = options.name ?? requireAnswer(await text({ output, message: 'Name of the endpoint', initialValue: guess.name }));
    const examples = { ...guess.examples };
    for (const placeholder of placeholdersOf(url)) {
        if (examples[placeholder] !== undefined) continue;
        const value = requireAnswer(
            await text({ output, message: `A value of ${placeholder} that works (empty: none)`, defaultValue: '' }),
        );
        if (value !== '') examples[placeholder] = value;
    }
    outro('You can change every answer in the file.', { output });
    return { ...guess, title, name, examples };
}

async function askForCategory(output: NodeJS.WriteStream): Promise<string> {
    const options = CATEGORIES.flatMap(({ children }) => children.map(({ path }) => ({ value: path, label: path })));
    return requireAnswer(await autocomplete({ output, message: 'Category (type to search)', options, maxItems: 8 }));
}

function requireAnswer<Value>(answer: Value): Exclude<Value, symbol> {
    if (isCancel(answer)) throw cancelled();
    return answer as Exclude<Value, symbol>;
}

/** The flags of `routebook init`. */
interface InitOptions extends DraftPlace {
    url?: string;
    site?: string;
    title?: string;
    description?: string;
    category?: string;
    name?: string;
    method?: Method;
    kind?: Kind;
    example?: readonly string[];
}
