import type { Terminal } from './terminal.ts';

const INDENT = '    ';

/**
 * A command that people copy, in one line or, where a terminal is too narrow, in a line for each part. It can be pasted either way.
 * The parts are the command, then each option with its value. A newline in a part marks where it may be broken.
 * @param head text in the four columns before the command
 */
export function commandLines(
    [command = '', ...options]: readonly string[],
    { tableWidth }: Pick<Terminal, 'tableWidth'>,
    head = INDENT,
): string[] {
    const whole = [command, ...options].map(inOneLine).join(' ');
    if (INDENT.length + whole.length <= tableWidth) return [head + whole];
    // Leaves room for a space and a backslash after each part.
    const fits = (option: string) => 2 * INDENT.length + option.length + 2 <= tableWidth;
    const shown = options.map((option) => (fits(inOneLine(option)) ? inOneLine(option) : option.replaceAll('\n', `\n${INDENT.repeat(3)}`)));
    return [head + command, ...shown].join(` \\\n${INDENT.repeat(2)}`).split('\n');
}

function inOneLine(part: string): string {
    return part.replaceAll('\n', '');
}
