import { PACKAGE_SCHEMA_PATH, packageSchema } from '../../shared/domain/package/package-schema.ts';
import { servePublic } from '../answers/public-file.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Serves `/schemas/routebook-1.json`: the package format as JSON Schema, for the editors of authors. */
export const packageFormat: AppPlugin = {
    name: 'package-format',
    register(server, { app }) {
        const type = 'application/schema+json; charset=utf-8';
        servePublic(server, PACKAGE_SCHEMA_PATH, { type, isOpen: true, read: () => packageSchema(app.publicUrl()) });
    },
};
