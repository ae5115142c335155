import type { PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';
import { formatOf, type Group } from '../routes/groups.ts';
import { wordsOf } from '../words/harmless.ts';
import { placeOfResults, type Shape } from '../words/shape.ts';

type Paging = Required<Pick<PackageEndpoint, 'pagination' | 'billing'>>;

const PAGES: ReadonlySet<string> = new Set(['page', 'p', 'pg', 'page number', 'page no', 'page num', 'current page', 'page index']);
const OFFSETS: ReadonlySet<string> = new Set(['offset', 'start', 'skip', 'from', 'start index', 'first result']);
const CURSORS: ReadonlySet<string> = new Set([
    'cursor',
    'after',
    'page token',
    'next token',
    'continuation',
    'continuation token',
    'next',
    'starting after',
    'next cursor',
    'marker',
    'scroll id',
]);
const NEXT_FIELDS =
    /^(?:next_?cursor|next_?page_?token|next_?token|end_?cursor|continuation(?:_?token)?|next_?marker|cursor|next_?page_?id|after)$/i;

/**
 * How the next page of a list is requested, if the recording shows several pages: a page or offset param that changed, a cursor that the
 * responses contain, or Link headers. Also where the list is in `data`.
 */
export function paginationOf(group: Group, params: readonly PackageParam[]): Paging | undefined {
    const isRead = group.method === 'GET' || (group.operation?.protocol === 'graphql' && !group.operation.writes);
    const results = formatOf(group) !== undefined ? 'items' : group.answers.json > 0 ? placeOfResults(group.shape) : undefined;
    if (!isRead || results === undefined) return undefined;
    const pagination = byParam(group, params) ?? (group.links > 0 ? { style: 'link' as const } : undefined);
    return pagination === undefined ? undefined : { pagination, billing: { unit: 'request', results } };
}

function byParam(group: Group, params: readonly PackageParam[]): Paging['pagination'] | undefined {
    for (const { name, source } of params) {
        if (source === 'path') continue;
        const values = source === 'query' ? group.query.get(name) : group.body?.fields.get(name)?.values;
        const plain = wordsOf(name).join(' ');
        if (values === undefined) continue;
        const isCounted = values.different.size > 1 && values.types.integer > 1 && values.types.integer >= values.others;
        if (isCounted && PAGES.has(plain)) return { style: 'page', param: name };
        if (isCounted && OFFSETS.has(plain)) return { style: 'offset', param: name };
        const next = CURSORS.has(plain) ? nextField(group.shape, '', 0) : undefined;
        if (next !== undefined) return { style: 'cursor', param: name, next };
    }
    return undefined;
}

/** The JMESPath of a field with the cursor of the next page. */
function nextField(shape: Shape, path: string, level: number): string | undefined {
    for (const [key, field] of shape.fields) {
        if (!/^[A-Za-z_]\w*$/.test(key)) continue;
        if (NEXT_FIELDS.test(key) && field.arrays === 0 && field.objects === 0) return path === '' ? key : `${path}.${key}`;
    }
    for (const [key, field] of shape.fields) {
        if (level >= 3 || field.objects === 0 || !/^[A-Za-z_]\w*$/.test(key)) continue;
        const found = nextField(field, path === '' ? key : `${path}.${key}`, level + 1);
        if (found !== undefined) return found;
    }
    return undefined;
}
