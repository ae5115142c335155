import { EXTRACT_NAME, extractOf, preparedIn } from '../../fetch/prepared-values.ts';
import { isObject } from '../../json/schema/structure.ts';
import { MAX_EXTRACTS } from './bounds.ts';
import { expressionFault } from './expressions.ts';
import { type Path, quoted, type Report } from './report.ts';
import { checkHtmlEntry } from './select.ts';
import { selectorFault } from './selectors.ts';
import type { EndpointDraft, ParamDraft, StepDraft } from './structure.ts';
import type { Subject } from './subject.ts';
import { PROTOTYPE_KEYS } from './tree.ts';
import { checkUrlTemplate, placeholdersOf } from './urls.ts';

/** The steps that could be read, each with its path in the package. */
export function stepsOfDraft({ prepare }: EndpointDraft, at: Path): { draft: StepDraft; at: Path }[] {
    if (prepare === undefined) return [];
    return prepare.steps.flatMap((draft, place) =>
        draft === undefined ? [] : [{ draft, at: [...at, 'prepare', ...(prepare.isList ? [place] : [])] }],
    );
}

/** Names of all values that the steps extract. */
export function extractedBy(draft: EndpointDraft): Set<string> {
    return new Set(stepsOfDraft(draft, []).flatMap((step) => Object.keys(step.draft.extract ?? {})));
}

/** Checks the steps before a call: their URLs, the form of the last step, and the extracted values. */
export function checkPrepare(subject: Subject): void {
    const { draft, at, report, urls } = subject;
    const steps = stepsOfDraft(draft, at);
    const known = new Set<string>();
    for (const [place, step] of steps.entries()) {
        const { url, form, extract } = step.draft;
        if (url !== undefined) {
            checkUrlTemplate(url, [...step.at, 'url'], report, urls, { placeholders: true });
            checkStepPlaceholders(subject, url, known, [...step.at, 'url']);
        }
        if (form !== undefined) {
            report.refuse([...step.at, 'form'], selectorFault(form));
            if (place < steps.length - 1) report.refuse([...step.at, 'form'], 'Only the last step may have a form.');
        }
        if (extract !== undefined) checkExtracts(extract, [...step.at, 'extract'], known, report);
    }
    if (steps.at(-1)?.draft.form !== undefined) checkPreparedForm(subject);
    checkNames(subject, known);
}

/** Every placeholder of a step must be a path or query param, or a value that an earlier step extracted. */
function checkStepPlaceholders({ params, report }: Subject, url: string, known: ReadonlySet<string>, at: Path): void {
    const [path = ''] = url.split('?', 1);
    for (const name of placeholdersOf(url)) {
        const extract = extractOf(name);
        if (extract !== undefined) {
            checkExtracted(extract, known, at, report, 'an earlier step');
            continue;
        }
        const param = params.find(({ draft }) => draft.name === name && (draft.source === 'path' || draft.source === 'query'))?.draft;
        if (param === undefined) {
            report.add(at, 'TEMPLATE_MISMATCH', `The placeholder {${name}} needs a param of this name with source path or query.`);
        } else if (placeholdersOf(path).includes(name) && param.required !== true && !Object.hasOwn(param, 'default')) {
            report.add(
                at,
                'TEMPLATE_MISMATCH',
                `Without a value of {${name}} there is no URL: make the param required or give it a default.`,
            );
        } else if (param.source === 'query' && !isPlain(param)) {
            report.refuse(at, `The param {${name}} may be a list or an object, and a placeholder stands for one value: give it a type.`);
        }
    }
}

const PLAIN: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/** Whether a query param accepts only texts, numbers and booleans. */
function isPlain({ schema, style = 'repeat' }: ParamDraft): boolean {
    if (schema === undefined) return style === 'repeat';
    if (!isObject(schema)) return false;
    const { type, enum: choices } = schema;
    if (Array.isArray(choices)) return choices.every((choice) => typeof choice !== 'object');
    return [type].flat().every((one) => PLAIN.has(one));
}

/** Reports a placeholder whose value no step extracts. */
export function checkExtracted(name: string, known: ReadonlySet<string>, at: Path, report: Report, by = 'prepare'): void {
    if (known.has(name)) return;
    report.add(at, 'TEMPLATE_MISMATCH', `The placeholder ${quoted(`{prepare.${name}}`)} needs a value of this name that ${by} extracts.`);
}

function checkExtracts(extract: object, at: Path, known: Set<string>, report: Report): void {
    const entries = Object.entries(extract);
    if (entries.length > MAX_EXTRACTS) report.add(at, 'TOO_COMPLEX', `A step may extract at most ${MAX_EXTRACTS} values.`);
    for (const [name, entry] of entries.slice(0, MAX_EXTRACTS)) {
        const place = [...at, name];
        if (!EXTRACT_NAME.test(name) || PROTOTYPE_KEYS.has(name))
            report.refuse(place, 'The name of a value must have 1 to 64 letters, digits and underscores, and may not begin with a digit.');
        if (known.has(name)) report.add(place, 'DUPLICATE_NAME', 'An earlier step extracts a value of this name too.');
        known.add(name);
        checkExtract(entry, place, report);
    }
}

/** One extracted value: an expression or a selector, by the type of the page; an entry of `select` for HTML; or a cookie. */
function checkExtract(entry: unknown, at: Path, report: Report): void {
    if (typeof entry === 'string') {
        const fault = expressionFault(entry) === undefined ? undefined : selectorFault(entry);
        if (fault !== undefined) report.refuse(at, `${fault} Nor is it a JMESPath expression.`);
    } else if (!isObject(entry)) {
        report.add(at, 'INVALID_TYPE', 'This must be an expression, a selector, {selector, value} or {cookie}.');
    } else if (Object.hasOwn(entry, 'cookie')) {
        checkCookie(entry, at, report);
    } else if (isObject(entry['value'])) {
        report.refuse([...at, 'value'], 'value must be an attribute here: only one value is extracted, not a map of several.');
    } else {
        checkHtmlEntry(entry, at, report);
    }
}

function checkCookie({ cookie, ...rest }: Record<string, unknown>, at: Path, report: Report): void {
    for (const key of Object.keys(rest)) report.add([...at, key], 'UNKNOWN_FIELD', 'An entry with cookie has no other fields.');
    if (typeof cookie !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(cookie))
        report.refuse([...at, 'cookie'], 'This must be the name of a cookie: at most 100 letters, digits and signs.');
}

/** The action of a form replaces `url`, and forms support only two methods. */
function checkPreparedForm({ draft, at, report }: Subject): void {
    if (draft.url !== undefined && placeholdersOf(draft.url).length > 0) {
        report.refuse([...at, 'url'], 'With prepare.form the action of the form replaces the url, so it has no placeholders.');
    }
    if (draft.method !== undefined && draft.method !== 'GET' && draft.method !== 'POST')
        report.refuse([...at, 'method'], `No form is sent by ${draft.method}: with prepare.form use GET or POST.`);
}

/** In a body, `"{prepare.name}"` stands for an extracted value, so no body param may have such a name. */
function checkNames({ params, at, report, draft, bodyFormat }: Subject, known: ReadonlySet<string>): void {
    for (const { draft: param, at: place } of params) {
        const extract = extractOf(param.name ?? '');
        if (param.source === 'body' && extract !== undefined && known.has(extract))
            report.add([...place, 'name'], 'DUPLICATE_NAME', 'A value of this name is extracted by prepare; give the param another name.');
    }
    if (typeof draft.body !== 'string' || bodyFormat === 'json' || preparedIn(draft.body).length === 0 || known.size === 0) return;
    report.refuse([...at, 'body'], 'A text body cannot contain values of prepare; send them in a header, or use a JSON or form body.');
}
