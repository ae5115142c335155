import type { CheerioAPI } from 'cheerio';
import { plainAddress } from '../exchanges/exchange.ts';
import { isProgramWord, isSpecialPage, namesCredential } from '../words/harmless.ts';
import { formOf } from '../words/segments.ts';
import { findIn } from './page-elements.ts';

/** The parts of a page's form that its author wrote. */
export interface Form {
    method: 'GET' | 'POST';
    action: URL;
    encoding: string;
    fields: Field[];
    hidden: HiddenInput[];
    /** A selector that matches only this form on its page, made of what its author wrote. */
    selector: string | undefined;
    /** Text of the submit button, or the heading of a form without one. */
    submit: string;
    asksForPassword: boolean;
    takesFiles: boolean;
    /** Whether only a script knows how it is sent: it has no action and no method, or a method that browsers do not support. */
    isScripted: boolean;
    /** Whether a script sends it by its action and method: neither a button nor Enter does. */
    isSentByScript: boolean;
    /** Whether a visitor can neither fill nor send it: it has no field and no button. */
    isIdle: boolean;
}

export interface HiddenInput {
    name: string;
    value: string;
    isToken: boolean;
    /** Whether its page has the same form with another value, beside another item. */
    isOfItem: boolean;
    word: string | undefined;
}

export interface Field {
    name: string;
    /** `text`, `search`, `select`, `checkbox`, `textarea`, `submit` … */
    type: string;
    isRequired: boolean;
    /** Values to choose from. */
    options: string[];
}

const MAX_FORMS = 40;
const MAX_FIELDS = 100;
const MAX_OPTIONS = 40;

/** The forms of a page that send something by HTTP, at most 40. @param page the page's address, against which form actions are resolved */
export function readForms($: CheerioAPI, page: URL): Form[] {
    const base = URL.parse($('base[href]').first().attr('href') ?? '', page) ?? page;
    const forms = $('form')
        .toArray()
        .slice(0, MAX_FORMS)
        .flatMap((element) => {
            const form = $(element);
            const box = boxOf(form);
            const written = form.attr('action')?.trim();
            const target = written === undefined || written === '' ? new URL(page) : URL.parse(written, base);
            const action = target && plainAddress(target);
            const method = (form.attr('method') ?? 'get').trim().toLowerCase();
            if (action === null || !/^https?:$/.test(action.protocol) || method === 'dialog') return [];
            const named = findIn(box, NAMED)
                .filter((_, input) => box === form || $(input).closest('form').length === 0)
                .toArray()
                .slice(0, MAX_FIELDS);
            const inputs = named.map((input): Selection => $(input));
            const types = inputs.map(typeOf);
            action.hash = '';
            const isSentByScript = box === form && sendsByScript($, form);
            return [
                {
                    method: method === 'post' ? ('POST' as const) : ('GET' as const),
                    action,
                    encoding: (form.attr('enctype') ?? '').trim().toLowerCase(),
                    fields: fieldsOf($, inputs, isSentByScript),
                    hidden: hiddenOf(inputs, isSentByScript),
                    selector: box === form ? selectorOf($, form) : undefined,
                    submit: submitOf($, box),
                    asksForPassword: types.includes('password'),
                    takesFiles: types.includes('file'),
                    isScripted: (written === undefined && form.attr('method') === undefined) || !/^(?:get|post|)$/.test(method),
                    isSentByScript,
                    isIdle: named.every((input) => typeOf($(input)) === 'hidden') && buttonsOf($, box).length === 0,
                },
            ];
        });
    // Each form may have its own token, which does not identify an item.
    for (const same of Map.groupBy(forms, kindOf).values())
        for (const { hidden } of same)
            for (const input of hidden)
                input.isOfItem =
                    !input.isToken &&
                    same.some((other) => other.hidden.some(({ name, value }) => name === input.name && value !== input.value));
    return forms;
}

const NAMED = 'input[name], select[name], textarea[name], button[name]';

/** The element with the inputs of a form. Between rows or cells of a table a form is parsed as empty, and its inputs follow it. */
function boxOf(form: Selection): Selection {
    return form.is('table > :empty, thead > :empty, tbody > :empty, tr > :empty') && form.siblings('form').length === 0
        ? form.parent()
        : form;
}

/** The address of a form and the names of its inputs. */
function kindOf({ method, action, fields, hidden }: Form): string {
    return `${method} ${action.href} ${[...fields, ...hidden].map(({ name }) => name).join(' ')}`;
}

const BUTTONS = 'button:not([type]), button[type="submit" i], input[type="submit" i], input[type="image" i]';

/** What a form is for: the text of its button. If a script sends it, the heading of it or of the smallest box that has no other form. */
function submitOf($: CheerioAPI, form: Selection): string {
    const button = buttonsOf($, form).first();
    const text = button.text() || button.attr('value') || (button.length === 0 ? headingOf(form) : '');
    return text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
}

/** The buttons that send a form: those in it, and otherwise those that name it by its id. */
function buttonsOf($: CheerioAPI, form: Selection): Selection {
    const inside = findIn(form, BUTTONS);
    const id = form.attr('id') ?? '';
    if (inside.length > 0 || id === '') return inside;
    return $('[form]')
        .filter(BUTTONS)
        .filter((_, button) => $(button).attr('form') === id);
}

function headingOf(form: Selection): string {
    const boxes = [
        form,
        ...form
            .parents()
            .toArray()
            .slice(0, MAX_BOXES)
            .map((box) => form.parents(box)),
    ];
    for (const box of boxes) {
        if (box.is('body, html') || findIn(box, 'form').length > 1) return '';
        const heading = findIn(box, HEADINGS).first().text();
        if (heading.trim() !== '') return heading;
    }
    return '';
}

const HEADINGS = 'h1, h2, h3, h4, h5, h6, legend, [role="heading" i]';
const MAX_BOXES = 4;

type Selection = ReturnType<CheerioAPI>;

function typeOf(input: Selection): string {
    const tag = input.prop('tagName')?.toLowerCase() ?? '';
    if (tag === 'input') return (input.attr('type') ?? 'text').trim().toLowerCase();
    return tag === 'button' ? (input.attr('type') ?? 'submit').trim().toLowerCase() : tag;
}

/** Whether a script fills a hidden input: the page leaves it empty in a form that a script sends. Callers must give its value. */
function isFilledByScript(input: Selection, isSentByScript: boolean): boolean {
    return isSentByScript && typeOf(input) === 'hidden' && (input.attr('value') ?? '') === '' && !namesCredential(input.attr('name') ?? '');
}

/** Whether a form posts, but neither a button nor Enter sends it. Browsers send a form with one text field on Enter. */
function sendsByScript($: CheerioAPI, form: Selection): boolean {
    if ((form.attr('method') ?? 'get').trim().toLowerCase() !== 'post') return false;
    if (buttonsOf($, form).length > 0) return false;
    return findIn(form, 'input').filter((_, input) => ENTERED.test(typeOf($(input)))).length !== 1;
}

/** Types of inputs in which Enter sends a form, unless it has several of them. */
const ENTERED = /^(?:text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/;

function fieldsOf($: CheerioAPI, inputs: readonly Selection[], isSentByScript: boolean): Field[] {
    const fields = new Map<string, Field>();
    for (const input of inputs) {
        const type = isFilledByScript(input, isSentByScript) ? 'text' : typeOf(input);
        const name = input.attr('name') ?? '';
        if (['hidden', 'password', 'file', 'button', 'reset', 'image'].includes(type) || name === '') continue;
        const known = fields.get(name) ?? { name, type, isRequired: input.attr('required') !== undefined, options: [] };
        const chosen = type === 'select' ? findIn(input, 'option') : type === 'radio' ? input : [];
        for (const element of chosen) {
            const value = $(element).attr('value') ?? $(element).text().trim();
            if (value !== '' && known.options.length < MAX_OPTIONS) known.options.push(value);
        }
        fields.set(name, known);
    }
    return [...fields.values()];
}

function hiddenOf(inputs: readonly Selection[], isSentByScript: boolean): Form['hidden'] {
    return inputs
        .filter((input) => typeOf(input) === 'hidden' && !isFilledByScript(input, isSentByScript))
        .map((input) => {
            const name = input.attr('name') ?? '';
            const value = input.attr('value') ?? '';
            return {
                name,
                value,
                isOfItem: false,
                word: isProgramWord(value) || isSpecialPage(value) ? value : undefined,
                isToken: namesCredential(name) || ['token', 'hash', 'uuid'].includes(formOf(value)),
            };
        });
}

/** Attributes that distinguish forms, the most reliable first. Ids and names with digits differ from page to page. */
function selectorOf($: CheerioAPI, form: Selection): string | undefined {
    const written = form.attr('action');
    const candidates = [
        buildName('form#', form.attr('id'), ''),
        buildName('form[name="', form.attr('name'), '"]'),
        written !== undefined && isFixedAction(written) ? `form[action="${written}"]` : undefined,
        ...(form.attr('class') ?? '').split(/\s+/).map((name) => buildName('form.', name, '')),
        ...findIn(form, 'input[name], select[name], textarea[name]')
            .toArray()
            .slice(0, 20)
            .map((input) => buildName('form:has([name="', $(input).attr('name'), '"])')),
        'form',
    ];
    return candidates.find((selector) => selector !== undefined && $(selector).length === 1 && $(selector).is(form));
}

function buildName(before: string, name: string | undefined, behind: string): string | undefined {
    return name !== undefined && isProgramWord(name) ? `${before}${name}${behind}` : undefined;
}

function isFixedAction(action: string): boolean {
    return /^[/\w.-]{1,100}$/.test(action) && action.split('/').every((segment) => segment === '' || formOf(segment) === 'word');
}
