import { openPage } from '../page.ts';
import { reference, VALUES } from './reference.ts';

/** The API for people: every route with its fields, and a call to try. */
export const docsPages = [
    openPage({
        method: 'GET',
        path: '/docs',
        respond: async ({ app }) => ({
            view: 'docs/reference',
            title: 'API',
            description: 'Every API route with its parameters, responses and a call to try.',
            model: { chapters: reference(app.publicUrl()), values: JSON.stringify(VALUES) },
        }),
    }),
];
