import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from '../../shared/platform/command-line.ts';
import { PROGRAM } from '../settings.ts';
import { fold } from '../terminal.ts';

export const CONNECTION = 'the connection that sends your credential, or "default"';

export const MAX_AGE = 'accept a stored result of the same call, at most this old, for 0 credits';

/** Adds the arguments and options of the commands that call an endpoint. */
export function addCallOptions(command: Command, { version, cap }: { version: string; cap: string }): Command {
    return command
        .argument('<site>')
        .argument('<endpoint>')
        .option('-p, --param <name=value>', 'a param; name:=json for JSON, name=@path for a file; repeatable', collect)
        .option('--params <json>', 'all params as one JSON object')
        .option('--version <version>', `number or hash; ${version}`, versionName)
        .option('--max-credits <n>', `spending cap of ${cap}`, wholeNumber(1, 1_000_000_000))
        .option('--max-results <n>', 'maximum number of results', wholeNumber(1, 1000))
        .option('--max-pages <n>', 'maximum number of pages to read', wholeNumber(1, 20))
        .option('--connection <id>', CONNECTION);
}

/** Parses a version: its number or its hash. */
export function versionName(text: string): number | string {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    if (/^[0-9a-f]{64}$/.test(text)) return text;
    throw new InvalidArgumentError('It must be the number of a version, or its hash of 64 digits.');
}

/** Joins the words of a text that somebody wrote without quotes. */
export function joined(word: string, before?: string): string {
    return before === undefined ? word : `${before} ${word}`;
}

/** Collects the values of an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): string[] {
    return [...before, text];
}

/** The text below a command's help: notes and examples, of 80 columns. */
export function examples(lines: readonly string[], about = ''): string {
    const shown = lines.map((line) => joinWithin(`  $ ${PROGRAM} ${line}`.split(/ (?=--?[a-z]|> )/), ' \\\n      ')).join('\n');
    return `${about === '' ? '' : `\n${fold(about, COLUMNS, '')}\n`}\nExamples:\n${shown}`;
}

const COLUMNS = 80;

/** Joins the parts of a command by spaces, and by `ending` where its line would become too long. */
function joinWithin(parts: readonly string[], ending: string): string {
    let shown = '';
    for (const part of parts) {
        const last = shown.slice(shown.lastIndexOf('\n') + 1);
        // Leaves room for a backslash.
        if (shown === '') shown = part;
        else shown += last.length + part.length + 3 > COLUMNS ? `${ending}${part}` : ` ${part}`;
    }
    return shown;
}
