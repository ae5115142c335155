import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { PackageDocument } from '../types.ts';

/**
 * The `version_hash` of a package (docs/api.md, "The registry"): the hex SHA-256 of its canonical JSON (RFC 8785) in UTF-8. The order of keys
 * and the spelling of numbers do not matter. `document` is the stored package, without `version`, `version_hash` and `published_at`.
 */
export function versionHash(document: PackageDocument): string {
    const text = canonicalize(document);
    if (text === undefined) throw new TypeError('a package is always a JSON value');
    return createHash('sha256').update(text, 'utf8').digest('hex');
}
