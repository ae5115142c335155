import type { Db } from '../../platform/db.ts';
import { lockRegistrable } from './domain-lock.ts';
import { listMaintainers, type Maintainer } from './maintainers.ts';

/** What an operator set for a registrable domain; it holds for every site on it (docs/api.md, "Credits"). */
export interface Domain {
    registrable: string;
    /** Credits of one unit. */
    credits: number;
    /** Fetches in flight, instead of half of all slots. */
    concurrency: number | null;
    /** Upstream requests a second. */
    rate: number | null;
    blockedAt: Date | null;
    blockReason: string | null;
}

export interface DomainView extends Domain {
    /** In the order of their names; `latest` null where every version is yanked. */
    sites: {
        site: string;
        latest: number | null;
        versions: number;
        /** Of the latest version: whether its examples work, or did and do no longer. */
        verified: boolean;
        drift: boolean;
    }[];
    /** The oldest maintainer first. */
    maintainers: Maintainer[];
}

/** How a domain stands; one that nobody touched yet has the defaults. */
export async function findDomain(db: Db, registrable: string): Promise<Domain> {
    const { rows } = await db.raw<{ rows: DomainColumns[] }>('select * from domains where registrable = ?', [registrable]);
    return rows[0] ? toDomain(rows[0]) : { ...UNTOUCHED, registrable };
}

/** A domain with its sites and maintainers. */
export async function showDomain(db: Db, registrable: string): Promise<DomainView> {
    const sites = await db.raw<{ rows: DomainView['sites'] }>(
        `select s.site, v.version as latest, s.versions, v.verified_at is not null as verified, v.drifted_at is not null as drift
         from sites s left join versions v on v.id = s.latest_version_id
         where s.registrable = ? order by s.site`,
        [registrable],
    );
    return { ...(await findDomain(db, registrable)), sites: sites.rows, maintainers: await listMaintainers(db, registrable) };
}

export interface DomainSettings {
    credits?: number;
    /** null: half of all slots again. */
    concurrency?: number | null;
    /** null: as fast as they come. */
    rate?: number | null;
}

/** Sets what is given and leaves the rest; effective with the next call. */
export async function setDomain(db: Db, registrable: string, settings: DomainSettings): Promise<Domain> {
    await lockRegistrable(db, registrable);
    for (const column of ['credits', 'concurrency', 'rate'] as const) {
        const value = settings[column];
        if (value !== undefined) await db.raw('update domains set ?? = ? where registrable = ?', [column, value, registrable]);
    }
    return findDomain(db, registrable);
}

/** Blocks a domain: nothing of it is looked up, fetched, published or verified any more. A second time changes the reason alone. */
export async function blockDomain(db: Db, registrable: string, reason: string): Promise<Domain> {
    await lockRegistrable(db, registrable);
    await db.raw('update domains set blocked_at = coalesce(blocked_at, app_now()), block_reason = ? where registrable = ?', [
        reason,
        registrable,
    ]);
    return findDomain(db, registrable);
}

/** Lifts a block; nothing happens where there is none. */
export async function unblockDomain(db: Db, registrable: string): Promise<Domain> {
    await lockRegistrable(db, registrable);
    await db.raw('update domains set blocked_at = null, block_reason = null where registrable = ?', [registrable]);
    return findDomain(db, registrable);
}

const UNTOUCHED = { credits: 1, concurrency: null, rate: null, blockedAt: null, blockReason: null } as const;

interface DomainColumns {
    registrable: string;
    credits: number;
    concurrency: number | null;
    rate: number | null;
    blocked_at: Date | null;
    block_reason: string | null;
}

function toDomain(row: DomainColumns): Domain {
    return {
        registrable: row.registrable,
        credits: row.credits,
        concurrency: row.concurrency,
        rate: row.rate,
        blockedAt: row.blocked_at,
        blockReason: row.block_reason,
    };
}
