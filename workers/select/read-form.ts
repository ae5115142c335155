import type { CheerioAPI } from 'cheerio';
import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import type { Method } from '../../shared/domain/types.ts';
import { decode } from './decode.ts';
import { baseOf, loadHtml } from './html.ts';
import { InvalidResponse } from './invalid-response.ts';
import type { RawPage } from './read-page.ts';
import { runSelector } from './select-html.ts';

/** docs/api.md, "Schema packages". */
const MAX_INPUTS = 200;
const MAX_BYTES = 64 * 1024;

/**
 * Reads the one form that `prepare.form` matches: its action and its hidden inputs, which include CSRF tokens. Visible fields come from
 * params only.
 * @param method method of the endpoint; a form with another method does not match the package
 * @throws InvalidResponse for no form, several forms, or a form that is too large
 */
export function readForm(page: RawPage, { selector, method }: { selector: string; method: Method }): PreparedForm {
    const $ = loadHtml(decode(page));
    const forms = runSelector('/prepare/form', () => $(selector).filter('form'));
    if (forms.length === 0) throw unfit('The page has no form where the schema says.');
    if (forms.length > 1) throw unfit('More than one form of the page is where the schema says.');
    const sentBy = (forms.attr('method') ?? 'get').trim().toLowerCase();
    if ((sentBy === 'post' ? 'POST' : 'GET') !== method || sentBy === 'dialog') {
        throw unfit(`The form of the page is not sent by ${method}, as the schema says.`);
    }
    return { action: actionOf($, forms.attr('action'), page.url), hidden: hiddenInputs($, forms.attr('id'), forms) };
}

/** The URL of a form. Without an action it is the page's URL. */
function actionOf($: CheerioAPI, action: string | undefined, url: string): string {
    const written = action?.trim() ?? '';
    const target = written === '' ? URL.parse(url) : URL.parse(written, baseOf($, url));
    if (target === null) throw unfit('The form of the page is sent to something that is no URL.');
    target.hash = '';
    return target.href;
}

/** The hidden inputs of a form, including inputs elsewhere that name it. */
function hiddenInputs($: CheerioAPI, id: string | undefined, form: ReturnType<CheerioAPI>): PreparedForm['hidden'] {
    const hidden: [string, string][] = [];
    let bytes = 0;
    for (const element of $('input[type="hidden" i][name]:not([disabled])')) {
        const input = $(element);
        const owner = input.attr('form');
        const isOfForm = owner === undefined ? input.closest('form').is(form) : owner !== '' && owner === id;
        const name = input.attr('name') ?? '';
        if (!isOfForm || name === '' || name === '_charset_') continue;
        const value = input.attr('value') ?? '';
        hidden.push([name, value]);
        bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
        if (hidden.length > MAX_INPUTS) throw tooMuch(`The form of the page has more than ${MAX_INPUTS} hidden inputs.`);
        if (bytes > MAX_BYTES) throw tooMuch(`The hidden inputs of the form have more than ${MAX_BYTES} bytes.`);
    }
    return hidden;
}

function unfit(message: string): InvalidResponse {
    return new InvalidResponse(message, [{ path: '/prepare/form', code: 'INVALID_VALUE', message }]);
}

function tooMuch(message: string): InvalidResponse {
    return new InvalidResponse(message, [], 'UPSTREAM_TOO_LARGE');
}
