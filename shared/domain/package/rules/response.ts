import { isObject } from '../../json/schema/structure.ts';
import { checkJsonSchema } from '../../json/schema.ts';
import type { ResponseType } from '../../types.ts';
import { expressionFault, selectorFault } from './expressions.ts';
import { createReport, type Path, pointerTo, type Report } from './report.ts';
import { checkHtmlSelect, checkJsonSelect } from './select.ts';
import type { PaginationFields } from './structure.ts';
import type { Subject } from './subject.ts';

/** `select` and `schema` of the response, and the expressions of `pagination`. */
export function checkResponse({ draft, at, report, budget }: Subject): void {
    const { response, pagination } = draft;
    const place = [...at, 'response'];
    if (response !== undefined && Object.hasOwn(response, 'schema')) {
        report.addAll(checkJsonSchema(response.schema, { at: pointerTo([...place, 'schema']), budget }));
    }
    if (response !== undefined && Object.hasOwn(response, 'select'))
        checkSelect(response.select, response.type, [...place, 'select'], report);
    if (pagination?.next !== undefined && pagination.style === 'cursor')
        checkNext(pagination.next, response?.type, [...at, 'pagination', 'next'], report);
    checkPageExpressions(pagination ?? {}, response?.type, [...at, 'pagination'], report);
}

/** Without a declared type the content type decides later, so a select is fine when it is one for JSON or one for HTML. */
function checkSelect(select: unknown, type: ResponseType | undefined, at: Path, report: Report): void {
    if (type === 'text')
        report.add(at, 'INVALID_VALUE', 'A text has no parts to select: leave select out, or set the type to json or html.');
    else if (type === 'html' || (type === undefined && isMadeForHtml(select, at))) checkHtmlSelect(select, at, report);
    else checkJsonSelect(select, at, report);
}

/** What is no valid select for HTML is still meant as one when it has lists or objects, which JSON's never has. */
function isMadeForHtml(select: unknown, at: Path): boolean {
    if (isObject(select) && Object.values(select).some((entry) => typeof entry === 'object')) return true;
    const attempt = createReport();
    checkHtmlSelect(select, at, attempt);
    return attempt.problems.length === 0;
}

/** Without a declared type it is fine when it is one of the two. */
function checkNext(next: string, type: ResponseType | undefined, at: Path, report: Report): void {
    const asExpression = expressionFault(next);
    const asSelector = selectorFault(next);
    if (type === undefined && (asExpression === undefined || asSelector === undefined)) return;
    const fault = type === 'html' ? asSelector : asExpression;
    if (fault !== undefined) report.add(at, 'INVALID_VALUE', fault);
}

function checkPageExpressions({ unique, end }: Partial<PaginationFields>, type: ResponseType | undefined, at: Path, report: Report): void {
    const unfit = unique === undefined ? undefined : expressionFault(unique);
    if (unfit !== undefined) report.add([...at, 'unique'], 'INVALID_VALUE', unfit);
    for (const field of ['total', 'has_more'] as const) {
        const expression = end?.[field];
        if (expression === undefined) continue;
        const fault = type === 'html' ? 'Only JSON can be asked this: of pages of HTML, use short_page.' : expressionFault(expression);
        if (fault !== undefined) report.add([...at, 'end', field], 'INVALID_VALUE', fault);
    }
}
