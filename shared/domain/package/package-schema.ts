import type { JsonObject } from '../types.ts';
import { readPackage } from './rules/structure.ts';

/** Where a server shows the schema of the format, and how drafts name it. */
export const PACKAGE_SCHEMA_PATH = '/schemas/routebook-1.json';

/**
 * The format routebook/1 as JSON Schema (draft 7, which editors know best), made from the tables that the rules read packages with.
 * Everything that may be published fits it; the rules also check what a JSON Schema cannot say, such as hosts and placeholders.
 */
export function packageSchema(publicUrl: string): JsonObject {
    return {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: `${publicUrl}${PACKAGE_SCHEMA_PATH}`,
        title: 'Routebook package',
        description: 'The callable endpoints of a website, in the format routebook/1.',
        ...readPackage.schema,
    };
}
