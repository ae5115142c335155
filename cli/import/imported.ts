import type { PackageDocument } from '../../shared/domain/types.ts';
import { settle } from '../inspect/settle.ts';
import type { NotCarried, ReadOperation } from './operation.ts';
import { shortened } from './shortened.ts';

/** What became of a document. Each operation of it stands either in `carried` or, with `scope: 'operation'`, in `notCarried`. */
export interface Imported {
    package: PackageDocument;
    carried: { where: string; name: string }[];
    notCarried: NotCarried[];
    counts: { operations: number; carried: number; notCarried: number };
    /** What stands between the draft and publishing; warnings too. */
    leftToDo: { path: string; message: string }[];
}

export interface ImportOptions {
    /** The site's name; without it what the document says. */
    site?: string;
    title?: string;
    /** A path of the taxonomy; without it it is taken from the document or guessed. */
    category?: string;
    isPortAllowed?: (port: number) => boolean;
}

/** The document is of no kind that can be imported; the message says what to do. */
export class CannotImport extends Error {}

/** Bounds of a package (docs/api.md, "Schema packages") and of the body that publishes it, with room for the envelope. */
const MAX_ENDPOINTS = 500;
const MAX_PARAMS = 2000;
const MAX_BYTES = 4_000_000;

/** Brings what was read under the rules of publishing, and lists what they refuse or have no room for. */
export function finish(
    head: Omit<PackageDocument, 'endpoints'>,
    operations: readonly ReadOperation[],
    notCarried: NotCarried[],
    options: ImportOptions,
): Imported {
    const whereOf = new Map(operations.map(({ where, endpoint }) => [endpoint.name, where]));
    const fitting = shortened(withinBounds(operations, notCarried), notCarried);
    const settled = settle({ ...head, endpoints: fitting.map(({ endpoint }) => endpoint) }, options.isPortAllowed ?? (() => false));
    for (const { endpoint, why } of settled.refused)
        notCarried.push({ where: whereOf.get(endpoint.name) ?? endpoint.name, why, scope: 'operation' });
    for (const { endpoint, part, why } of settled.removed)
        notCarried.push({ where: `${whereOf.get(endpoint.name) ?? endpoint.name}, ${part}`, why, scope: 'part' });
    const made = withoutLargest(settled.package, (name) => whereOf.get(name) ?? name, notCarried);
    const carried = made.endpoints.map(({ name }) => ({ where: whereOf.get(name) ?? name, name }));
    const refused = notCarried.filter(({ scope }) => scope === 'operation').length;
    return {
        package: made,
        carried,
        notCarried,
        counts: { operations: carried.length + refused, carried: carried.length, notCarried: refused },
        leftToDo: settled.leftToDo,
    };
}

function withinBounds(operations: readonly ReadOperation[], notCarried: NotCarried[]): ReadOperation[] {
    let params = 0;
    return operations.filter(({ where, endpoint }, index) => {
        const own = endpoint.params?.length ?? 0;
        const fits = index < MAX_ENDPOINTS && params + own <= MAX_PARAMS;
        if (fits) params += own;
        else if (index >= MAX_ENDPOINTS)
            notCarried.push({
                where,
                why: `A package has at most ${MAX_ENDPOINTS} endpoints; publish the rest as another site of the domain.`,
                scope: 'operation',
            });
        else notCarried.push({ where, why: `A package has at most ${MAX_PARAMS} params over all its endpoints.`, scope: 'operation' });
        return fits;
    });
}

/** Leaves the largest response schemas out until the package is small enough to be published. */
function withoutLargest(document: PackageDocument, whereOf: (name: string) => string, notCarried: NotCarried[]): PackageDocument {
    let bytes = Buffer.byteLength(JSON.stringify(document));
    if (bytes <= MAX_BYTES) return document;
    const sizes = document.endpoints.map((endpoint, index) => ({ index, size: JSON.stringify(endpoint.response ?? {}).length }));
    const dropped = new Set<number>();
    for (const { index, size } of sizes.sort((a, b) => b.size - a.size)) {
        if (bytes <= MAX_BYTES) break;
        dropped.add(index);
        bytes -= size;
    }
    const endpoints = document.endpoints.map((endpoint, index) => {
        if (!dropped.has(index) || endpoint.response?.schema === undefined) return endpoint;
        notCarried.push({
            where: `${whereOf(endpoint.name)}, schema of the response`,
            why: 'The package would be larger than what can be published.',
            scope: 'part',
        });
        const { schema: _schema, ...response } = endpoint.response;
        return { ...endpoint, response };
    });
    return { ...document, endpoints };
}
