import { isObject } from '../../json/schema/structure.ts';
import { checkJsonSchema } from '../../json/schema.ts';
import type { ResponseType } from '../../types.ts';
import { expressionFault } from './expressions.ts';
import { createReport, type Path, pointerTo, quoted, type Report } from './report.ts';
import { checkHtmlSelect, checkJsonSelect } from './select.ts';
import { selectorFault } from './selectors.ts';
import type { PaginationDraft, ResponseDraft } from './structure.ts';
import type { Subject } from './subject.ts';

/** Checks `select` and `schema` of the response, and the expressions of `pagination`. */
export function checkResponse({ draft, at, report, budget }: Subject): void {
    const { response, pagination } = draft;
    const place = [...at, 'response'];
    if (response !== undefined && Object.hasOwn(response, 'schema')) {
        report.addAll(checkJsonSchema(response.schema, { at: pointerTo([...place, 'schema']), budget }));
    }
    if (response !== undefined && Object.hasOwn(response, 'select'))
        checkSelect(response.select, response.type, [...place, 'select'], report);
    checkFormat(response ?? {}, place, report);
    if (pagination?.next !== undefined && pagination.style === 'cursor')
        checkNext(pagination.next, response?.type, [...at, 'pagination', 'next'], report);
    checkPageExpressions(pagination ?? {}, response?.type, [...at, 'pagination'], report);
}

/** Whether CSS selectors select from answers of this type. */
function isMarkup(type: ResponseType | undefined): boolean {
    return type === 'html' || type === 'xml';
}

/** Without a declared type, the content type decides at run time. So `select` must be valid for JSON or for HTML. */
function checkSelect(select: unknown, type: ResponseType | undefined, at: Path, report: Report): void {
    if (type === 'text' || type === 'binary')
        report.refuse(at, `A ${type} answer has no parts to select: leave select out, or set another type.`);
    else if (isMarkup(type) || (type === undefined && isMadeForHtml(select, at))) checkHtmlSelect(select, at, report);
    else checkJsonSelect(select, at, report);
}

/** Checks fields that only some types have. */
function checkFormat({ type, charset, csv, sse }: ResponseDraft, at: Path, report: Report): void {
    if (charset !== undefined && type === 'binary')
        report.refuse([...at, 'charset'], 'Bytes of type binary are not decoded: leave charset out.');
    else if (charset !== undefined && !isEncoding(charset))
        report.refuse([...at, 'charset'], 'No encoding has this name; well-known ones are utf-8, windows-1252 and shift_jis.');
    if (csv !== undefined && type !== 'csv') report.refuse([...at, 'csv'], 'This is for answers of type csv: set the type.');
    if (sse === true && type !== 'ndjson') report.refuse([...at, 'sse'], 'An event stream is read as JSON values: set the type to ndjson.');
    const columns = csv?.columns ?? [];
    for (const [place, name] of columns.entries()) {
        if (name === undefined || columns.indexOf(name) === place) continue;
        report.add([...at, 'csv', 'columns', place], 'DUPLICATE_NAME', `The column ${quoted(name)} is named twice.`);
    }
}

/** Whether browsers know an encoding with this name (WHATWG). */
function isEncoding(label: string): boolean {
    try {
        new TextDecoder(label);
        return true;
    } catch {
        return false;
    }
}

/** If an invalid `select` has lists or objects, it was written for HTML, because a `select` for JSON never has them. */
function isMadeForHtml(select: unknown, at: Path): boolean {
    if (isObject(select) && Object.values(select).some((entry) => typeof entry === 'object')) return true;
    const attempt = createReport();
    checkHtmlSelect(select, at, attempt);
    return attempt.problems.length === 0;
}

/** Without a declared type, the expression must be valid for JSON or for HTML. */
function checkNext(next: string, type: ResponseType | undefined, at: Path, report: Report): void {
    const asExpression = expressionFault(next);
    const asSelector = selectorFault(next);
    if (type === undefined && (asExpression === undefined || asSelector === undefined)) return;
    report.refuse(at, isMarkup(type) ? asSelector : asExpression);
}

function checkPageExpressions({ unique, end }: PaginationDraft, type: ResponseType | undefined, at: Path, report: Report): void {
    if (unique !== undefined) report.refuse([...at, 'unique'], expressionFault(unique));
    for (const field of ['total', 'has_more'] as const) {
        const expression = end?.[field];
        if (expression === undefined) continue;
        const fault = isMarkup(type) ? 'This works only for JSON. For HTML and XML, use short_page.' : expressionFault(expression);
        report.refuse([...at, 'end', field], fault);
    }
}
