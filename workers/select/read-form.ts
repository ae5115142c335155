import type { CheerioAPI } from 'cheerio';
import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import type { Method } from '../../shared/domain/types.ts';
import { baseOf } from './html.ts';
import { InvalidResponse } from './invalid-response.ts';
import { runSelector } from './select-html.ts';

/** docs/api.md, "Schema packages". */
const MAX_FIELDS = 200;
const MAX_BYTES = 64 * 1024;

type Matches = ReturnType<CheerioAPI>;

/**
 * Reads the one form that `prepare.form` matches: its action, and its fields with their initial values (hidden inputs, texts, selected
 * options and ticked boxes). Passwords, files and empty texts are sent only if a param sets them.
 * @param path pointer to `form`, for messages
 * @param method method of the endpoint; a form with another method does not match the package
 * @throws InvalidResponse for no form, several forms, or a form that is too large
 */
export function readForm(
    $: CheerioAPI,
    url: string,
    { path, selector, method }: { path: string; selector: string; method: Method },
): PreparedForm {
    const unfit = (message: string) => new InvalidResponse(message, [{ path, code: 'INVALID_VALUE', message }]);
    const forms = runSelector(path, () => $(selector).filter('form'));
    if (forms.length === 0) throw unfit('The page has no form where the schema says.');
    if (forms.length > 1) throw unfit('More than one form of the page is where the schema says.');
    const sentBy = (forms.attr('method') ?? 'get').trim().toLowerCase();
    if ((sentBy === 'post' ? 'POST' : 'GET') !== method || sentBy === 'dialog') {
        throw unfit(`The form of the page is not sent by ${method}, as the schema says.`);
    }
    const action = actionOf($, forms.attr('action'), url);
    if (action === undefined) throw unfit('The action of the form is not a valid URL.');
    return { action, fields: fieldsOf($, forms) };
}

/** The URL of a form. Without an action it is the page's URL. */
function actionOf($: CheerioAPI, action: string | undefined, url: string): string | undefined {
    const written = action?.trim() ?? '';
    const target = written === '' ? URL.parse(url) : URL.parse(written, baseOf($, url));
    if (target === null) return undefined;
    target.hash = '';
    return target.href;
}

/** The fields of a form in the order of the page, including fields elsewhere that name it. */
function fieldsOf($: CheerioAPI, form: Matches): PreparedForm['fields'] {
    const id = form.attr('id');
    const fields: [string, string][] = [];
    let bytes = 0;
    for (const element of $('input[name], select[name], textarea[name]')) {
        const field = $(element);
        const owner = field.attr('form');
        const isOfForm = owner === undefined ? field.closest('form').is(form) : owner !== '' && owner === id;
        const name = field.attr('name') ?? '';
        const isOff = field.attr('disabled') !== undefined || field.closest('fieldset[disabled]').length > 0;
        if (!isOfForm || isOff || name === '' || name === '_charset_') continue;
        for (const value of defaultsOf($, field)) {
            fields.push([name, value]);
            bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
        }
        if (fields.length > MAX_FIELDS) throw tooMuch(`The form of the page has more than ${MAX_FIELDS} fields.`);
        if (bytes > MAX_BYTES) throw tooMuch(`The fields of the form have more than ${MAX_BYTES} bytes.`);
    }
    return fields;
}

/** Inputs without an initial value: buttons, and fields that only a param can set. */
const NOT_SENT: ReadonlySet<string> = new Set(['submit', 'image', 'button', 'reset', 'password', 'file']);

/** The initial value of a field: none, one, or several for a list with multiple choices. */
function defaultsOf($: CheerioAPI, field: Matches): string[] {
    if (field.is('select')) return chosenIn($, field);
    // Browsers write line breaks of a form as CR LF.
    if (field.is('textarea')) return toValues(field.text().replaceAll(/\r\n?|\n/g, '\r\n'));
    const type = (field.attr('type') ?? 'text').trim().toLowerCase();
    if (NOT_SENT.has(type)) return [];
    if (type === 'hidden') return [field.attr('value') ?? ''];
    if (type !== 'checkbox' && type !== 'radio') return toValues(field.attr('value') ?? '');
    return field.attr('checked') === undefined ? [] : [field.attr('value') ?? 'on'];
}

/** An empty input has no value: callers fill it by a param, and an absent param is not sent. */
function toValues(text: string): string[] {
    return text === '' ? [] : [text];
}

/** The selected options. Without `multiple` only the last selected option; a drop-down list without one sends its first option. */
function chosenIn($: CheerioAPI, list: Matches): string[] {
    const options = list
        .find('option')
        .toArray()
        .map((option) => $(option));
    const isOpen = (option: Matches) => option.attr('disabled') === undefined && option.closest('optgroup[disabled]').length === 0;
    const chosen = options.filter((option) => option.attr('selected') !== undefined && isOpen(option));
    const isWhole = list.attr('multiple') !== undefined;
    const first = Number(list.attr('size') ?? 1) > 1 ? undefined : options.find(isOpen);
    const sent = isWhole ? chosen : [chosen.at(-1) ?? first].filter((option) => option !== undefined);
    // `attr` returns the text of an option without a value only if it is called with the name.
    return sent.map(
        (option) =>
            option.attr()?.['value'] ??
            option
                .text()
                .replaceAll(/[\t\n\f\r ]+/g, ' ')
                .trim(),
    );
}

function tooMuch(message: string): InvalidResponse {
    return new InvalidResponse(message, [], 'UPSTREAM_TOO_LARGE');
}
