import { autocomplete, intro, isCancel, outro, text } from '@clack/prompts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import type { Kind, Method } from '../../shared/domain/types.ts';
import { cancelled } from '../session.ts';
import { type DraftOrder, placeholdersOf, siteOf } from './draft-package.ts';
import type { DraftPlace } from './write-draft.ts';

/** Asks for every value that no flag gives. Questions go to stderr, so that stdout has only the result. */
export async function askForDraft(options: InitOptions, orderOf: (options: InitOptions) => DraftOrder): Promise<DraftOrder> {
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
export interface InitOptions extends DraftPlace {
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
