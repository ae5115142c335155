import { checkPackage } from '../../shared/domain/package/rules.ts';
import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import { CommandFault, detailLines, wrongUsage } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import type { InitOptions } from './ask-for-draft.ts';
import { askForDraft } from './ask-for-draft.ts';
import { type DraftOrder, draftPackage, endpointNameOf, siteOf } from './draft-package.ts';
import { draftFile, textOf, writeDraft } from './write-draft.ts';

/** `routebook init`: writes a first draft from flags or questions. The draft passes the rules. */
export async function initPackage({ terminal, settings, note }: Session, options: InitOptions): Promise<Done> {
    const isWhole = options.url !== undefined && options.category !== undefined;
    if (!isWhole && !terminal.isInteractive) {
        throw wrongUsage('without a terminal, --url and --category are required, such as --category commerce/product-search');
    }
    const order = isWhole ? orderOf(options) : await askForDraft(options, orderOf);
    const document = draftPackage(order);
    const { egressAllow } = settings.egress();
    const verdict = checkPackage(document, { isPortAllowed: (port) => isPortAllowed(egressAllow, port) });
    if (!verdict.ok) {
        const lines = detailLines(verdict.problems, terminal.paintError);
        throw new CommandFault('SCHEMA_INVALID', 'This draft would break the rules:', { lines, fields: { details: verdict.problems } });
    }
    const file = options.out ?? draftFile(document.site);
    if (file === '-') return { result: { file: null, package: document }, lines: textOf(document).trimEnd().split('\n') };
    await writeDraft(file, document, options);
    const { paint } = terminal;
    for (const { code, message } of verdict.warnings) note(`! ${code}: ${message}`);
    const lines = [
        `${paint('green', '✓')} ${paint('bold', file)} is a draft of ${document.site}. Describe its endpoints, params and answers, then:`,
        `    routebook lint ${file}   ${paint('dim', 'the rules of the registry')}`,
        `    routebook test ${file}   ${paint('dim', 'calls its examples from here')}`,
        `    routebook push ${file}   ${paint('dim', 'publishes it')}`,
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
