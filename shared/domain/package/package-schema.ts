import type { JsonObject } from '../types.ts';
import { readPackage } from './rules/structure.ts';

/** The path at which a server publishes the schema of the format. Drafts refer to it. */
export const PACKAGE_SCHEMA_PATH = '/schemas/routebook-1.json';

/**
 * The format routebook/1 as JSON Schema (draft 7, which editors support best), generated from the tables with which the rules read
 * packages. Every valid package matches it. The rules also check what a JSON Schema cannot express, such as hosts and placeholders.
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
