import { contentOf } from '../../shared/domain/package/content.ts';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { createAccount } from '../../shared/store/accounts/accounts.ts';
import type { Published, Publisher, PublishOrder } from '../../shared/store/registry/publication.ts';
import { eventually as untilRight } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';

export interface OpenedDatabase {
    db: Db;
    url: string;
    close(): Promise<void>;
}

/** A migrated database for one spec, with a pool that waits for a free connection. */
export async function openDatabase(): Promise<OpenedDatabase> {
    const database = await createTestDatabase();
    const db = openDb({ url: database.url, acquireTimeoutMs: 10_000 });
    return {
        db,
        url: database.url,
        async close() {
            await db.destroy();
            await database.drop();
        },
    };
}

/** Opens a database before the tests of a suite, or before each of them, and closes it afterwards. It is empty until then. */
export function useDatabase({ forEach = false } = {}): OpenedDatabase {
    const database = {} as OpenedDatabase;
    (forEach ? beforeEach : before)(async () => {
        Object.assign(database, await openDatabase());
    });
    (forEach ? afterEach : after)(() => database.close());
    return database;
}

let people = 0;

/** A user with a free workspace who may publish. */
export async function contributor(db: Db, isLimited = true): Promise<Publisher> {
    const { userId, workspaceId } = await createAccount(db, { email: `contributor${people++}@people.example`, plan: 'free' });
    return { userId, workspaceId, accountId: userId, isLimited };
}

/** A package with one endpoint; `text` makes its content differ. */
export function packageOf(site: string, text = 'One', more: Partial<PackageDocument> = {}): PackageDocument {
    return {
        format: 'routebook/1',
        site,
        title: `Shop ${text}`,
        description: '',
        intent_category: 'commerce/product-search',
        endpoints: [{ name: 'front', method: 'GET', url: `https://${site}/` }],
        ...more,
    };
}

/** In these specs the last two labels are the registrable domain: `shop.one.example` belongs to `one.example`. */
export function registrableOf(site: string): string {
    return site.split('.').slice(-2).join('.');
}

export function orderOf(document: PackageDocument, publisher: Publisher | undefined, more: Partial<Omit<PublishOrder, 'content'>> = {}) {
    const content = contentOf(document);
    return { document, content, versionHash: versionHash(document), registrable: registrableOf(document.site), publisher, ...more };
}

/** The result of a publish that must succeed. */
export function accepted(published: Published): Extract<Published, { ok: true }> {
    if (!published.ok) throw new Error(published.code);
    return published;
}

/** Polls until the result is right or the time is over. Resolves with the last result. */
export async function eventually<T>(
    ask: () => Promise<T>,
    isRight: (answer: T) => boolean,
): Promise<{ answer: T | undefined; ms: number }> {
    let answer: T | undefined;
    const askAndKeep = async () => {
        const asked = await ask();
        answer = asked;
        return asked;
    };
    const ms = await untilRight(askAndKeep, isRight).catch(() => Number.POSITIVE_INFINITY);
    return { answer, ms };
}
