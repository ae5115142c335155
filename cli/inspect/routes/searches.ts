import { wordsOf } from '../words/harmless.ts';
import { isVarying, PROGRAM_SUFFIX, precedesSearchTerm } from '../words/segments.ts';
import { saysChange } from '../words/verbs.ts';
import type { Group } from './groups.ts';

const SEARCH_NAMES: ReadonlySet<string> = new Set(['q', 'query', 'search', 's', 'text', 'keyword', 'keywords', 'term', 'terms']);

/** Whether a route is a search by words. */
export function searches(group: Group): boolean {
    const last = lastWord(group);
    if (group.operation !== undefined || group.method === 'HEAD' || namesChange(group)) return false;
    if (precedesSearchTerm(last.replace(/^_/, ''))) return group.method === 'GET' || (group.method === 'POST' && group.form === undefined);
    const names = [...group.query.keys(), ...(group.method === 'GET' ? (group.form?.fields.keys() ?? []) : [])];
    return group.method === 'GET' && names.some((name) => SEARCH_NAMES.has(wordsOf(name).join('_')));
}

/** Whether the address itself names a change: `/api/deletePad?padID=`, `?action=remove`. */
export function namesChange(group: Group): boolean {
    return [lastWord(group), ...group.dispatch.map(([, word]) => word)].some(saysChange);
}

function lastWord({ segments }: Group): string {
    return segments.findLast((piece) => !isVarying(piece) && piece.core !== '')?.core.replace(PROGRAM_SUFFIX, '') ?? '';
}
