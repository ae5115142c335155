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
        const { mail, mailEveryMs: everyMs } = app.config;
        const postman = openPostman({ db, secrets, log, mail, publicUrl, everyMs });
        const running = new Set<Promise<void>>();
        server.ext('onPostStop', async () => {
            await Promise.all(running);
            await postman.close();
        });
        const later = (work: () => Promise<void>) => {
            const done = work()
                .catch((error: unknown) => {
                    if (error instanceof SessionEnded) return;
                    app.log.error({ part: 'pages', err: error }, 'what a page left for later failed');
                })
                .finally(() => running.delete(done));
            running.add(done);
        };
        const parts = { app, passwords: createPasswords({ cost: app.config.passwordCost }), hurryMail: postman.hurry, later };
        server.route(PAGES.map((page) => servePage(parts, page)));
        assets(server);
        llmsText(server, app);
        wellKnown(server, app);
        searchEngines(server, app, PAGES);
    },
};
