import type { JsonObject } from '../../shared/domain/types.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { admin } from './admin.ts';
import { eventually } from './eventually.ts';
import { join, type Person } from './people.ts';
import { dataOf } from './routes.ts';
import { LATER_DOMAINS, openSiteWithPages, page, SITE_HOSTS, type SiteWithPages, sitePackage } from './site-with-pages.ts';
import { openWorld, type Topology, type World, type WorldOptions } from './world.ts';

const PATIENCE_MS = 20_000;

/** A world that verifies published packages, a site to publish, and a person who publishes it. */
export interface Verifying {
    world: World;
    site: SiteWithPages;
    ada: Person;
    /** Resolves with the version. It is not verified yet. */
    publish(...document: Parameters<typeof sitePackage>): Promise<number>;
    card(site: string): Promise<{ verified: boolean; verified_at: string | null }>;
    state(site: string): Promise<verification.VerificationState>;
    /** Resolves when the site's run of this number has ended. */
    ended(site: string, run: number): Promise<verification.VerificationState>;
    /** Resolves when a worker has checked everything that is due. Then it would have started any due run, except those of LATER_DOMAINS. */
    nothingIsDue(): Promise<void>;
    /** The names of the called pages, except those of LATER_DOMAINS. */
    pagesCalled(): string[];
    admin(...args: string[]): Promise<AdminRun>;
    close(): Promise<void>;
}

export interface AdminRun {
    code: number;
    json: JsonObject;
    /** The text on stderr. */
    told: string;
}

/** Opens it. Without options: one worker, and no pause of a second between two calls. */
export async function openVerifying(topology: Topology, options: WorldOptions = {}): Promise<Verifying> {
    const site = await openSiteWithPages();
    const config = { egressHosts: SITE_HOSTS, ...options.config };
    const world = await openWorld({ topology, verifier: { paceMs: 0, pollMs: 20 }, ...options, config });
    const ada = await join(world, { plan: 'pro' });
    const state = (name: string) => verification.readState(world.app.db, name);
    const ended: Verifying['ended'] = async (name, run) => {
        await eventually(
            () => state(name),
            (now) => now.run >= run && now.endedAt !== null,
            PATIENCE_MS,
        );
        return state(name);
    };
    let others = 0;
    return {
        world,
        site,
        ada,
        state,
        ended,
        async publish(...document) {
            const published = dataOf<{ version: number; verified: boolean }>(await ada.publish(sitePackage(...document)));
            if (published.verified) throw new Error('a new version is verified');
            return published.version;
        },
        card: async (name) => dataOf(await ada.call('GET', `/v1/schemas/${name}`)),
        async nothingIsDue() {
            const other = LATER_DOMAINS[others++] ?? '';
            // This site becomes due now, after everything else that is due.
            dataOf(await ada.publish(sitePackage(other, [page(site, other, 'carpets')])));
            await ended(other, 1);
        },
        pagesCalled: () => site.calls.map(({ page: name }) => name).filter((name) => name !== 'carpets'),
        async admin(...args) {
            const { code, json, err } = await admin(world.databaseUrl, [...args, '--json']);
            return { code, json, told: err.join('\n') };
        },
        async close() {
            await world.close();
            await site.close();
        },
    };
}
