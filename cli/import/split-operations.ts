import type { ReadOperation } from './operation.ts';

/** Limits of a package (docs/api.md, "Schema packages"). */
export const MAX_ENDPOINTS = 500;
const MAX_PARAMS = 2000;

export interface Part {
    /** The tag that names the package. Undefined if all operations fit into one package. */
    tag: string | undefined;
    operations: ReadOperation[];
}

/** Splits operations into few packages by tag, the most useful tags first. A tag that is too large for one package is split. */
export function splitOperations(operations: readonly ReadOperation[]): Part[] {
    if (operations.length <= MAX_ENDPOINTS && paramsOf(operations) <= MAX_PARAMS) return [{ tag: undefined, operations: [...operations] }];
    const groups = [...Map.groupBy(operations, ({ tag }) => tag ?? '')].flatMap(([tag, own]) =>
        inPieces(own).map((piece) => ({ tag, operations: piece, worth: piece.reduce((sum, one) => sum + usefulness(one), 0) })),
    );
    const parts: (Part & { endpoints: number; params: number })[] = [];
    for (const { tag, operations: own } of groups.sort((a, b) => b.worth - a.worth)) {
        const params = paramsOf(own);
        const room = parts.find((part) => part.endpoints + own.length <= MAX_ENDPOINTS && part.params + params <= MAX_PARAMS);
        if (room === undefined) parts.push({ tag, operations: [...own], endpoints: own.length, params });
        else {
            room.operations.push(...own);
            room.endpoints += own.length;
            room.params += params;
        }
    }
    return parts;
}

/** Splits operations into the most useful ones that fit into one package, and the rest. Both keep the order of the document. */
export function mostUseful(operations: readonly ReadOperation[]): { chosen: ReadOperation[]; rest: ReadOperation[] } {
    const chosen = new Set<ReadOperation>();
    let params = 0;
    for (const operation of operations.toSorted((a, b) => usefulness(b) - usefulness(a))) {
        const own = operation.endpoint.params?.length ?? 0;
        if (chosen.size >= MAX_ENDPOINTS || params + own > MAX_PARAMS) continue;
        chosen.add(operation);
        params += own;
    }
    return { chosen: operations.filter((one) => chosen.has(one)), rest: operations.filter((one) => !chosen.has(one)) };
}

function paramsOf(operations: readonly ReadOperation[]): number {
    return operations.reduce((sum, { endpoint }) => sum + (endpoint.params?.length ?? 0), 0);
}

function inPieces(operations: readonly ReadOperation[]): ReadOperation[][] {
    const pieces: ReadOperation[][] = [];
    let left = [...operations];
    while (left.length > 0) {
        const { chosen, rest } = mostUseful(left);
        // If nothing fits, an operation has more params than allowed. The rules refuse it later.
        pieces.push(chosen.length > 0 ? chosen : left);
        left = chosen.length > 0 ? rest : [];
    }
    return pieces;
}

const WORTH: Readonly<Record<string, number>> = { GET: 3, HEAD: 1, POST: 1, PUT: 0.5, PATCH: 0.5, DELETE: 0 };

/** Rates how useful an operation is. Reads with few required params rate highest, since most people and agents call them. */
function usefulness({ endpoint }: ReadOperation): number {
    const { method, kind, params = [], auth, hosted, description = '', url } = endpoint;
    const needed = params.filter(({ required, default: standard }) => required && standard === undefined).length;
    return (
        (WORTH[method] ?? 0) +
        (kind === 'search' ? 2 : 0) +
        (auth === 'required' ? 0 : 2) +
        (hosted === false ? -2 : 0) +
        (description === '' ? 0 : 1) +
        (description.startsWith('Deprecated.') ? -3 : 0) -
        0.5 * Math.min(6, needed) -
        0.3 * Math.min(8, url.split('/').length - 3)
    );
}
