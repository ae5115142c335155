import type { CheerioAPI } from 'cheerio';
import { plainAddress } from '../exchanges/exchange.ts';
import { namesPeoplesWords } from '../words/harmless.ts';
import { findIn } from './page-elements.ts';

/** Texts and links of a page. `quotable.ts` decides later which of them may appear in a draft. */
export interface PageTexts {
    title: string;
    heading: string;
    /** Its meta description. */
    about: string;
    links: { to: URL; text: string }[];
    /** Labels of form fields, by field name. */
    labels: Map<string, string>;
    /** Sentences about form fields without a label: their choices, or the button that sends them. */
    hints: Map<string, string>;
}

type Selection = ReturnType<CheerioAPI>;

const FIELDS = 'input[name], select[name], textarea[name]';
/** Fields that a script reads have no name, but an id or the name of what they are bound to. */
const READ_BY_SCRIPT = ['id', 'ng-model', 'v-model'].map((mark) => `:is(input, select, textarea)[${mark}]`).join(', ');
const MAX_LINKS = 300;
const MAX_FIELDS = 200;
const MAX_LENGTH = 200;

/** Reads the texts of a page. @param url its address */
export function textsOf($: CheerioAPI, url: URL): PageTexts {
    const base = URL.parse($('base[href]').first().attr('href') ?? '', url) ?? url;
    const links = $('a[href], head > link[href][title]')
        .toArray()
        .slice(0, MAX_LINKS)
        .flatMap((element) => {
            const link = $(element);
            const to = URL.parse(link.attr('href') ?? '', base);
            const text = lineOf(link.text()) || lineOf(link.attr('title') ?? link.attr('aria-label') ?? '');
            return to === null || !/^https?:$/.test(to.protocol) || text === '' ? [] : [{ to: plainAddress(to), text }];
        });
    return {
        title: lineOf($('head > title').first().text()),
        heading: lineOf($('h1').first().text()) || headingOfPart($),
        about: lineOf($('meta[name="description" i], meta[property="og:description" i]').first().attr('content') ?? ''),
        links,
        labels: labelsOf($),
        hints: hintsOf($),
    };
}

/** The first heading of a page without a title, or of a part of it. A heading that is a link names an item, and not the page. */
function headingOfPart($: CheerioAPI): string {
    const heading = $('h2').first();
    return findIn(heading, 'a[href]').length > 0 || heading.closest('a[href]').length > 0 ? '' : lineOf(heading.text());
}

function labelsOf($: CheerioAPI): Map<string, string> {
    const byId = new Map<string, string>();
    for (const element of $('label[for]').toArray().slice(0, MAX_FIELDS)) byId.set($(element).attr('for') ?? '', lineOf($(element).text()));
    const labels = new Map<string, string>();
    const legendOf = oncePerBox(legendOfOneName);
    const nameIn = oncePerBox(nameOfField);
    for (const element of $(`${FIELDS}, ${READ_BY_SCRIPT}`).toArray().slice(0, MAX_FIELDS)) {
        const field = $(element);
        const name = sentNameOf(field);
        const type = (field.attr('type') ?? '').toLowerCase();
        if (labels.has(name) || /^(?:hidden|password|image|button)$/.test(type)) continue;
        if (type === 'submit') {
            const text = lineOf(field.attr('value') ?? '');
            if (text !== '') labels.set(name, `Button “${text}”`);
            continue;
        }
        const around = field.closest('label');
        const own = around.length === 0 ? '' : lineOf(around.contents().not('select, textarea').text());
        const candidates = [
            byId.get(field.attr('id') ?? '') ?? '',
            own,
            ...HINTS.map((hint) => lineOf(field.attr(hint) ?? '')),
            ...textsBeside(field, type, { legendOf, nameIn }),
        ];
        const label = candidates.find((text) => /\p{L}{2}/u.test(text));
        if (label !== undefined && label.length <= 100) labels.set(name, label.replace(/[\s:*]+$/, ''));
    }
    return labels;
}

/** The name with which a field is sent: its own, or what the script calls it (`device.name`, `port`). */
function sentNameOf(field: Selection): string {
    const bound = field.attr('ng-model') ?? field.attr('v-model') ?? field.attr('id') ?? '';
    return field.attr('name') ?? bound.slice(bound.lastIndexOf('.') + 1);
}

/** Texts that name a field by their place: beside it, in the box, cell or term before it, at the head of its row, and above its group. */
function textsBeside(
    field: Selection,
    type: string,
    { legendOf, nameIn }: Record<'legendOf' | 'nameIn', (box: Selection) => string>,
): string[] {
    const isTickBox = type === 'checkbox' || type === 'radio';
    const node = field.get(0);
    const text = (isTickBox ? node?.next : node?.prev) ?? undefined;
    const row = field.closest('td').prevAll('td, th');
    return [
        text?.type === 'text' ? lineOf(text.data) : '',
        boxBefore(field, nameIn),
        ...[row.first(), row.filter('th').last(), field.closest('dd').prevAll('dt').first()].map(labelIn),
        legendOf(field.closest('fieldset')),
    ];
}

const MAX_BOXES = 3;

/** Pages without tables often have the name of a field in an element before it. */
function boxBefore(field: Selection, nameIn: (box: Selection) => string): string {
    let box = field.parent();
    for (let level = 0; level < MAX_BOXES && box.is('div, span, label'); level++, box = box.parent()) {
        const name = nameIn(box.prev());
        if (name !== '') return name;
    }
    return '';
}

/** A label, or a small box whose text ends with a colon. */
function nameOfField(box: Selection): string {
    const text = box.children().length > 2 ? '' : lineOf(box.text());
    return text.endsWith(':') || box.is('label') ? text : '';
}

/** The legend of a group whose fields all have one name. */
function legendOfOneName(group: Selection): string {
    const named = findIn(group, FIELDS).not('[type=hidden i], [type=submit i], [type=button i]');
    return new Set(named.toArray().map((one) => one.attribs['name'])).size === 1 ? labelIn(group.children('legend')) : '';
}

/** Searches a box once, not again for each of its fields: a page may hold thousands of them in one. */
function oncePerBox<T>(search: (box: Selection) => T): (box: Selection) => T {
    const known = new Map<unknown, T>();
    return (box) => {
        const found = known.get(box[0]) ?? search(box);
        known.set(box[0], found);
        return found;
    };
}

/** The text of an element without the choices and scripts in it. */
function labelIn(element: Selection): string {
    const copy = element.clone();
    findIn(copy, 'select, textarea, script, style').remove();
    return lineOf(copy.text());
}

const HINTS = ['aria-label', 'placeholder', 'title'];
const MAX_CHOICES = 5;
const MAX_OPTIONS = 12;

function hintsOf($: CheerioAPI): Map<string, string> {
    const hints = new Map<string, string>();
    const shownIn = oncePerBox((form) => findIn(form, FIELDS).slice(0, MAX_FIELDS));
    for (const element of $(FIELDS).toArray().slice(0, MAX_FIELDS)) {
        const field = $(element);
        const name = field.attr('name') ?? '';
        const hint = element.tagName === 'select' ? choicesOf($, field) : buttonOf(field, shownIn);
        if (!hints.has(name) && hint !== '') hints.set(name, hint);
    }
    return hints;
}

function choicesOf($: CheerioAPI, field: Selection): string {
    const options = findIn(field, 'option')
        .slice(0, MAX_OPTIONS + 1)
        .toArray();
    // Long lists and lists of people are data.
    if (options.length > MAX_OPTIONS || namesPeoplesWords(field.attr('name') ?? '')) return '';
    const texts = options.map((option) => lineOf($(option).text())).filter((text) => /\p{L}{2}/u.test(text));
    const choices = texts.slice(0, MAX_CHOICES).map((text) => `“${text}”`);
    return choices.length < 2 ? '' : `Choices are ${choices.join(', ')}${texts.length > MAX_CHOICES ? ' and others' : ''}`;
}

/** The button beside the only field that a form shows. */
function buttonOf(field: Selection, shownIn: (form: Selection) => Selection): string {
    const form = field.closest('form');
    const type = (field.attr('type') ?? 'text').toLowerCase();
    const others = shownIn(form).not(field).not('[type=hidden i], [type=submit i], [type=button i], [type=checkbox i], [type=radio i]');
    if (form.length === 0 || others.length > 0 || !/^(?:text|search|url|email|number)$/.test(type)) return '';
    const button = findIn(form, 'button:not([type]), button[type="submit" i], input[type="submit" i]').first();
    const text = lineOf(button.text() || (button.attr('value') ?? ''));
    return /\p{L}{2}/u.test(text) ? `Sent by the button “${text}”` : '';
}

function lineOf(text: string): string {
    return text.slice(0, 1000).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);
}
