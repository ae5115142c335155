import { defined } from '../../shared/domain/defined.ts';
import { table } from '../../shared/platform/table.ts';
import type { Card, ListQuery, VersionEntry } from '../client/index.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

interface ListOptions {
    category?: string;
    verified?: true;
    sort?: NonNullable<ListQuery['sort']>;
    limit: number;
    cursor?: string;
}

/** `routebook list`: lists cards of the registry, up to the limit. */
export function listSchemas(session: Session, options: ListOptions): Promise<Done> {
    return searchSchemas(session, undefined, options);
}

/** `routebook search Q`: lists the cards that match, up to the limit. */
export async function searchSchemas({ client, terminal }: Session, q: string | undefined, options: ListOptions): Promise<Done> {
    const { category, verified, sort, limit, cursor } = options;
    const listing = client().schemas.list(defined({ q, category, verified, sort, limit: Math.min(limit, PAGE) }));
    const progress = terminal.progress('searching');
    const cards: Card[] = [];
    let next: string | null = null;
    let total = 0;
    try {
        for await (const page of listing.pages(cursor)) {
            for (const card of page.items) cards.push(card);
            total = page.total;
            next = page.nextCursor;
            if (cards.length >= limit) break;
        }
    } finally {
        progress.end();
    }
    const result = { schemas: cards, total, next_cursor: next };
    if (cards.length === 0) return { result, lines: [`No site matches; "${PROGRAM} request" requests one.`] };
    const lines = cardLines(cards, terminal);
    if (next === null) return { result, lines };
    return { result, lines, hint: `${cards.length} of ${total}; --limit shows more, --cursor ${next} continues from here` };
}

/** The server's largest page. */
const PAGE = 100;

function cardLines(cards: readonly Card[], terminal: Session['terminal']): string[] {
    const { paint } = terminal;
    const heads = ['site', 'verified', 'endpoints', 'title', 'category', 'version'];
    const rows = cards.map(({ site, version, verified, endpoints, intent_category, title }) => {
        return [site, verified ? 'yes' : 'no', endpoints.length, title, intent_category, version];
    });
    const style = (padded: string, head: string) => {
        if (head === 'site') return paint('bold', padded);
        return head === 'verified' && padded.startsWith('yes') ? paint('green', padded) : padded;
    };
    return table(heads, rows, terminal, style);
}

/** `routebook categories`: lists the values of `--category` with descriptions. */
export async function listCategories({ client, terminal }: Session): Promise<Done> {
    const categories = await client().categories();
    const rows = categories.flatMap(({ slug, name, children }) => [
        [slug, name],
        ...children.map((child) => [child.path, `${name}: ${child.name}`]),
    ]);
    return { result: { categories }, lines: table(['category', 'name'], rows, terminal) };
}

/** `routebook versions SITE`: lists versions, newest first. */
export async function listVersions({ client, terminal }: Session, site: string, { limit }: { limit: number }): Promise<Done> {
    const versions: VersionEntry[] = [];
    for await (const version of client().schemas.versions(site, { limit: Math.min(limit, 100) })) {
        versions.push(version);
        if (versions.length >= limit) break;
    }
    const heads = ['version', 'published', 'change', 'verified', 'yanked', 'by', 'hash'];
    const rows = versions.map(({ version, published_at, change, verified, yanked, published_by, version_hash }) => {
        return [version, published_at, change, verified ? 'yes' : 'no', yanked ? 'yes' : 'no', published_by, version_hash.slice(0, 12)];
    });
    return { result: { site, versions }, lines: table(heads, rows, terminal) };
}
