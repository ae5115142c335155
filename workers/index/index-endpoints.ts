import type { App } from '../../shared/app.ts';
import { type IndexedPackage, indexPackage } from '../../shared/domain/find/index-package.ts';
import { shippedPhrases, shippedWordVectors } from '../../shared/platform/phrases.ts';
import { createSideThread } from '../../shared/platform/side-thread.ts';
import { type Indexing, indexNextSite, SITE_WAITS } from '../../shared/store/registry/endpoint-index.ts';
import type { DuePoller, Repeated } from '../repeat.ts';

/** Indexing a smaller package takes less time than starting a thread, about 2 ms. */
const SMALL_CHARACTERS = 64 * 1024;

/** Indexes the endpoints of sites whenever they have a new latest version. Every worker may run it. */
export function startIndexing(app: App, poller: DuePoller): Repeated {
    return poller.add({ part: 'endpoint index', due: SITE_WAITS, work: (isStopped) => indexWaitingSites(app, isStopped) });
}

/** Indexes the endpoints of all sites with a new latest version, one site after the other. */
export async function indexWaitingSites({ db, log }: App, isStopped: () => boolean): Promise<void> {
    const indexing: Indexing = {
        describe,
        onFault: (site, error) =>
            log.warn({ part: 'endpoint index', site, err: error }, 'the endpoints of a site could not be indexed; this is tried again'),
    };
    while (!isStopped() && (await indexNextSite(db, indexing)));
}

const thread = createSideThread(new URL('./index-thread.ts', import.meta.url));

/** Describes the endpoints of a package; for a large package in a thread, so that the event loop is not blocked. */
export async function describe(text: string, site: string): Promise<IndexedPackage> {
    return text.length <= SMALL_CHARACTERS ? indexPackage(text, shippedPhrases(), shippedWordVectors()) : thread.run(site, { text });
}
