import { LRUCache } from 'lru-cache';
import type { App } from '../../../shared/app.ts';
import { cardOf } from '../../../shared/store/registry/cards.ts';
import { findHistory, findVersion, type VersionRef } from '../../../shared/store/registry/history.ts';
import { readPackageText } from '../../../shared/store/registry/versions.ts';
import type { Comparison } from '../../packages/compare-versions.ts';
import { workOnPackage } from '../../packages/work.ts';
import type { Answer, Visit } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { findSite } from './find-site.ts';

const VERSIONS = 30;

type Compared = { from: number; to: number } & ({ comparison: Comparison } | { problem: string });

/** GET /registry/{site}/versions: all versions, newest first. With `from` and `to`, also the differences between these two. */
export async function showVersions(visit: Visit): Promise<Answer> {
    const found = await findSite(visit);
    if ('instead' in found) return found.instead;
    const { app, query } = visit;
    const { site, siteState } = found;
    const [before, from, to] = ['before', 'from', 'to'].map((name) => readNumber(query(name)));
    const [{ rows: versions, next, total }, card, compared] = await Promise.all([
        findHistory(app.browse, site, { limit: VERSIONS, after: before }),
        cardOf(app.browse, site),
        compare(visit, site, from, to),
    ]);
    return {
        view: 'registry/versions',
        title: `Versions of ${site}`,
        description: `Every version of the schema of ${site}, and what changed from one to the next.`,
        model: {
            canonical: addressOf(`/registry/${site}/versions`, {
                before: before?.toString(),
                from: compared?.from.toString(),
                to: compared?.to.toString(),
            }),
            site,
            name: card?.title ?? site,
            latest: siteState.version?.version,
            versions,
            total,
            next,
            compared,
        },
    };
}

async function compare(
    { app, client }: Visit,
    site: string,
    from: number | undefined,
    to: number | undefined,
): Promise<Compared | undefined> {
    if (from === undefined || to === undefined) return undefined;
    const [before, after] = await Promise.all([from, to].map((version) => findVersion(app.browse, site, version)));
    if (before === undefined || after === undefined || [before, after].some(isUnreadable)) {
        return { from, to, problem: 'One of these versions is not available.' };
    }
    return { from, to, comparison: await compareOnce(app, client, before, after) };
}

/** Versions yanked for legal reasons cannot be read. */
function isUnreadable({ yankReason }: VersionRef): boolean {
    return yankReason === 'legal';
}

/** Cached comparisons, since packages have up to 4 MiB and anyone may compare them. */
const comparisons = new LRUCache<string, Comparison>({ maxSize: 4_000_000, sizeCalculation: charactersOf });

const underWay = new Map<string, Promise<Comparison>>();

function compareOnce(app: App, client: string, before: VersionRef, after: VersionRef): Comparison | Promise<Comparison> {
    const key = `${before.versionHash} ${after.versionHash}`;
    const known = comparisons.get(key) ?? underWay.get(key);
    if (known !== undefined) return known;
    const making = compareNow(app, client, before, after).finally(() => underWay.delete(key));
    underWay.set(key, making);
    return making.then((made) => {
        comparisons.set(key, made);
        return made;
    });
}

async function compareNow({ browse }: App, client: string, before: VersionRef, after: VersionRef): Promise<Comparison> {
    const [old, now] = [await readPackageText(browse, before.versionId), await readPackageText(browse, after.versionId)];
    if (old === undefined || now === undefined) throw new Error('a version without its package');
    return (await workOnPackage('diffForPage', client, { before: old, after: now })).answer;
}

function charactersOf({ parts }: Comparison): number {
    return parts.reduce((sum, { lines }) => sum + lines.reduce((inPart, { text }) => inPart + text.length, 0), 1);
}

function readNumber(text: string | undefined): number | undefined {
    return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
