import { PACKAGE_SCHEMA_PATH, packageSchema } from '../../shared/domain/package/package-schema.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Serves `/schemas/routebook-1.json`: the package format as JSON Schema, for the editors of authors. */
export const packageFormat: AppPlugin = {
    name: 'package-format',
    register(server, { app }) {
        server.route({
            method: 'GET',
            path: PACKAGE_SCHEMA_PATH,
            options: { app: { isOpen: true } },
            handler: (_request, h) =>
                h
                    .response(packageSchema(app.publicUrl()))
                    .type('application/schema+json; charset=utf-8')
                    .header('cache-control', 'public, max-age=3600'),
        });
    },
};
