import { CannotImport } from './imported.ts';

/** Whether the user wants to import an operation. */
export type Wanted = (operation: { method: string; path: string; tags: readonly string[] }) => boolean;

const METHOD = /^(?:get|head|post|put|patch|delete)$/i;

/**
 * Reads `--only`: methods, paths and tags. A path includes all paths below it, and `*` matches within a segment. An operation has to match
 * one value of each kind that is given.
 * @throws CannotImport for an empty value
 */
export function readOnly(only: readonly string[]): Wanted {
    if (only.some((one) => one.trim() === '')) throw new CannotImport('--only names a tag, a path or a method.');
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
