import type { Server } from '@hapi/hapi';
import { openPostman } from '../../shared/mail/mail.ts';
import { createPasswords } from '../../shared/platform/passwords/passwords.ts';
import { SessionEnded } from '../../shared/store/accounts/user-sessions.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { assets } from './assets.ts';
import { llmsText } from './docs/llms.ts';
import { PAGES } from './pages.ts';
import { searchEngines } from './search-engines.ts';
import { servePage } from './serve-page.ts';
import { wellKnown } from './well-known.ts';

/** Serves the web pages, one route per row of the table of pages, and the files that they load. */
export const dashboard: AppPlugin = {
    name: 'web-pages',
    register(server, { app }) {
        const { db, secrets, log, publicUrl } = app;
        const { mail, mailEveryMs: everyMs, operatorName: name, operatorEmails } = app.config;
        const operator = { name, contact: operatorEmails[0] };
        const postman = openPostman({ db, secrets, log, mail, operator, publicUrl, everyMs });
        const running = new Set<Promise<void>>();
        server.ext('onPostStop', async () => {
            await Promise.all(running);
            await postman.close();
        });
        const later = (work: () => Promise<void>) => {
            const done = work()
                .catch((error: unknown) => {
                    if (error instanceof SessionEnded) return;
                    app.log.error({ part: 'pages', err: error }, 'work after the answer of a page failed');
                })
                .finally(() => running.delete(done));
            running.add(done);
        };
        const parts = { app, passwords: createPasswords({ cost: app.config.passwordCost }), hurryMail: postman.hurry, later };
        server.route(PAGES.map((page) => servePage(parts, page)));
        redirectFormUrls(server);
        assets(server);
        llmsText(server, app);
        wellKnown(server, app);
        searchEngines(server, app, PAGES);
    },
};

/**
 * A form that is shown again with its problems stays at the URL of its action. A GET of that URL redirects to the page that contains the
 * form, with what was typed before a confirmation.
 */
function redirectFormUrls(server: Server): void {
    const shown = new Set<string>(PAGES.filter(({ method }) => method === 'GET').map(({ path }) => path));
    const forms = new Set<string>(PAGES.map(({ path }) => path).filter((path) => path.startsWith('/dashboard/') && !shown.has(path)));
    for (const path of forms) {
        const parts = path.split('/');
        const depth = parts.findLastIndex((_, at) => shown.has(parts.slice(0, at + 1).join('/'))) + 1;
        server.route({
            method: 'GET',
            path,
            options: { app: { isOpen: false } },
            handler: (request, h) => {
                const page = request.path.split('/').slice(0, depth).join('/');
                const typed = request.url.searchParams.get('typed');
                return h.redirect(typed === null ? page : `${page}?typed=${encodeURIComponent(typed)}`).code(303);
            },
        });
    }
}
