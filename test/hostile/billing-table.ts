import type { AnswerTime, Behaviour, Expected } from './behaviour.ts';
import { GROUPS } from './behaviours.ts';

const BEGIN = '<!-- From here on made by `node scripts/billing-table.ts` from test/hostile. -->';
const END = '<!-- Until here. -->';

/** `docs/billing.md` with tables generated from the behaviours. The text around them is unchanged. */
export function withTables(page: string): string {
    const [before, rest] = page.split(BEGIN);
    const after = rest?.split(END)[1];
    if (before === undefined || after === undefined) throw new Error('docs/billing.md has lost the marks between which its tables stand');
    return `${before}${BEGIN}\n\n${tables()}\n\n${END}${after}`;
}

function tables(): string {
    return GROUPS.map(({ title, behaviours }) =>
        [`### ${title}`, '', '| a site that … | the answer | billed | when |', '|---|---|---|---|', ...behaviours.map(line)].join('\n'),
    ).join('\n\n');
}

function line({ name, read, write }: Behaviour): string {
    const cells = [answerOf, billedOf, whenOf].map((cell) => {
        const [ofRead, ofWrite] = [cell(read), cell(write)];
        return ofRead === ofWrite ? ofRead : `${ofRead}; a write: ${ofWrite}`;
    });
    return `| ${[name.replaceAll('|', '\\|'), ...cells].join(' | ')} |`;
}

const answerOf = ({ code }: Expected) => (code === 'success' ? 'success' : `\`${code}\``);
const billedOf = ({ code }: Expected) => (code === 'success' ? 'yes' : 'no');
const whenOf = ({ time }: Expected) => wordsOf(time);

function wordsOf(time: AnswerTime): string {
    return typeof time === 'string' ? time : time.words;
}
