import type { App } from '../../shared/app.ts';
import { type IndexedPackage, indexPackage } from '../../shared/domain/find/index-package.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';
import { createSideThread } from '../../shared/platform/side-thread.ts';
import { type Describe, indexNextSite } from '../../shared/store/registry/endpoint-index.ts';
import { type Repeated, repeat } from '../repeat.ts';

const LOOK_MS = 500;
/** Smaller packages take less than starting a thread does: about 2 ms. */
const SMALL_CHARACTERS = 64 * 1024;

/** Indexes the endpoints of sites with a new latest version, one site after the other; every worker may do it. */
export function startIndexing({ db, log }: App): Repeated {
    const status = watchConnection(log, 'endpoint index');
    let isStopped = false;
    const describeOrLog: Describe = (text, site) =>
        describe(text, site).catch((error: unknown) => {
            log.warn({ part: 'endpoint index', site, err: error }, 'the endpoints of a site could not be indexed; this is tried again');
            return undefined;
        });
    const looks = repeat(LOOK_MS, async () => {
        try {
            while (!isStopped && (await indexNextSite(db, describeOrLog)));
            status.up();
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            isStopped = true;
            await looks.stop();
        },
    };
}

const thread = createSideThread(new URL('./index-thread.ts', import.meta.url));

/** Beside the event loop where that is worth a thread. */
export async function describe(text: string, site: string): Promise<IndexedPackage> {
    return text.length <= SMALL_CHARACTERS ? indexPackage(text, shippedPhrases()) : thread.run(site, { text });
}
