import { CannotImport } from './imported.ts';
import { leaveOut, type NotCarried } from './operation.ts';
import { printableName } from './texts.ts';

/** The facts of an operation by which a person names it. */
export interface Nameable {
    method: string;
    path: string;
    tags: readonly string[];
}

/**
 * The operations that `--only` names, or all without it. Adds a note of how many were left out to `notCarried`.
 * @throws CannotImport where none is left
 */
export function onlyWanted<Operation extends Nameable>(
    found: readonly Operation[],
    only: readonly string[] = [],
    notCarried: NotCarried[],
): readonly Operation[] {
    if (only.length === 0) return found;
    const isWanted = createFilter(only.map((one) => one.trim()));
    const wanted = found.filter(isWanted);
    if (wanted.length === 0) throw new CannotImport(`No operation has the tag, path or method ${only.map(printableName).join(', ')}.`);
    const left = found.length - wanted.length;
    if (left > 0) leaveOut(notCarried, '--only', `Left ${left} of ${found.length} operations out.`);
    return wanted;
}

const METHOD = /^(?:get|head|post|put|patch|delete|options|trace)$/i;

/**
 * Reads `--only`: methods, paths and tags. A path includes all paths below it, and `*` matches within a segment. An operation has to match
 * one value of each kind that is given.
 * @throws CannotImport for an empty value
 */
function createFilter(only: readonly string[]): (operation: Nameable) => boolean {
    if (only.includes('')) throw new CannotImport('--only needs a tag, a path or a method.');
    const methods = new Set(only.filter((one) => METHOD.test(one)).map((one) => one.toUpperCase()));
    const paths = only.filter((one) => one.startsWith('/')).map(pathPattern);
    const tags = new Set(only.filter((one) => !METHOD.test(one) && !one.startsWith('/')).map((one) => one.toLowerCase()));
    return ({ method, path, tags: own }) =>
        (methods.size === 0 || methods.has(method)) &&
        (paths.length === 0 || paths.some((pattern) => pattern.test(path))) &&
        (tags.size === 0 || own.some((tag) => tags.has(tag.toLowerCase())));
}

function pathPattern(path: string): RegExp {
    const parts = path.replace(/\/+$/, '').split('*');
    return new RegExp(`^${parts.map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')).join('[^/]*')}(?:/|#|$)`);
}
