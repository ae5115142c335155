import { replacePlaceholders, type TextFormat, textPlaceholders } from '../../fetch/text-template.ts';
import { isJson } from '../../json/is-json.ts';
import { type Path, quoted, type Report } from './report.ts';

/** Checks a text template. Placeholders are allowed only where the format can escape them. */
export function checkTextBody(template: string, format: TextFormat, at: Path, report: Report): void {
    if (template.trim() === '') report.refuse(at, 'The template of a body may not be empty.');
    if (format === 'ndjson') checkLines(template, at, report);
    if (format === 'xml') checkXml(template, at, report);
}

/** Each line must be JSON once its placeholders are filled, so a placeholder may not be inside quotes. */
function checkLines(template: string, at: Path, report: Report): void {
    const lines = replacePlaceholders(template, '"P"').split('\n');
    const broken = lines.findIndex((line) => line.trim() !== '' && !isJson(line));
    if (broken === -1) return;
    report.refuse(at, `Line ${broken + 1} is not JSON once its placeholders are filled. Write a placeholder without quotes around it.`);
}

/** Escaping works only in text and in quoted attribute values. */
function checkXml(template: string, at: Path, report: Report): void {
    for (let open = template.indexOf('<'); open !== -1; ) {
        const { bare, end } = markupAt(template, open);
        const [name] = textPlaceholders(bare);
        if (name !== undefined) {
            report.refuse(
                at,
                `The placeholder ${quoted(`{${name}}`)} is inside markup. In XML, placeholders may be in text and in quoted attribute values.`,
            );
            return;
        }
        open = template.indexOf('<', end);
    }
}

const SECTIONS = [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
    ['<!', '>'],
] as const;

/** The markup that begins at a `<`: where it ends, and its text without the quoted attribute values. */
function markupAt(template: string, open: number): { bare: string; end: number } {
    const section = SECTIONS.find(([begin]) => template.startsWith(begin, open));
    if (section !== undefined) {
        const close = template.indexOf(section[1], open + section[0].length);
        const end = close === -1 ? template.length : close + section[1].length;
        return { bare: template.slice(open, end), end };
    }
    let bare = '';
    let at = open;
    while (at < template.length && template[at] !== '>') {
        const char = template[at] ?? '';
        const close = char === '"' || char === "'" ? template.indexOf(char, at + 1) : -1;
        bare += char;
        at = close === -1 ? at + 1 : close + 1;
    }
    return { bare, end: at + 1 };
}
