import { LRUCache } from 'lru-cache';
import type { Db } from '../db.ts';
import { readEndpoint } from '../domain/endpoint.ts';
import { greatestUnits } from '../domain/package-diff.ts';
import type { Endpoint, PackageDocument } from '../domain/types.ts';

/** Characters of packages kept in memory; what is made of them takes a few times as many bytes. */
const CACHED_CHARACTERS = 8 * 1024 * 1024;
const CACHED_VERSIONS = 5000;
/** Endpoints whose greatest units are kept; they outlive the packages, since a site may have had hundreds of large ones within a day. */
const CACHED_UNITS = 1_000_000;

export interface LoadedVersion {
    versionId: number;
    site: string;
    version: number;
    versionHash: string;
    /** By name, in the package's order. A Map, since names are anybody's. */
    endpoints: ReadonlyMap<string, Endpoint>;
}

export interface Versions {
    /** An immutable version, every default filled in; undefined where there is no such id. */
    load(versionId: number): Promise<LoadedVersion | undefined>;
    /** By endpoint: units that one call of this version may be billed at the most. Empty where there is no such id. */
    unitsOf(versionId: number): Promise<ReadonlyMap<string, number>>;
}

/** Versions for one process, kept in memory as far as they are used. */
export function openVersions(db: Db): Versions {
    const cache = new LRUCache<number, LoadedVersion>({
        max: CACHED_VERSIONS,
        maxSize: CACHED_CHARACTERS,
    });
    const units = new LRUCache<number, ReadonlyMap<string, number>>({ maxSize: CACHED_UNITS });
    const asked = new Map<number, Promise<LoadedVersion | undefined>>();

    async function read(versionId: number): Promise<LoadedVersion | undefined> {
        const { rows } = await db.raw<{ rows: DocumentColumns[] }>(
            'select id, site, version, version_hash, document::text as document from versions where id = ?',
            [versionId],
        );
        const row = rows[0];
        if (row === undefined) return undefined;
        const document = JSON.parse(row.document) as PackageDocument;
        const loaded = {
            versionId: row.id,
            site: row.site,
            version: row.version,
            versionHash: row.version_hash,
            endpoints: new Map(document.endpoints.map((endpoint) => [endpoint.name, readEndpoint(endpoint)])),
        };
        cache.set(versionId, loaded, { size: row.document.length });
        return loaded;
    }

    async function load(versionId: number): Promise<LoadedVersion | undefined> {
        const cached = cache.get(versionId);
        if (cached !== undefined) return cached;
        let answer = asked.get(versionId);
        if (answer === undefined) {
            answer = read(versionId).finally(() => asked.delete(versionId));
            asked.set(versionId, answer);
        }
        return answer;
    }

    return {
        load,
        async unitsOf(versionId) {
            const cached = units.get(versionId);
            if (cached !== undefined) return cached;
            const endpoints = (await load(versionId))?.endpoints ?? new Map<string, Endpoint>();
            const found = new Map([...endpoints].map(([name, endpoint]) => [name, greatestUnits(endpoint)]));
            if (found.size > 0) units.set(versionId, found, { size: found.size });
            return found;
        },
    };
}

/**
 * The least of the greatest units that one call of an endpoint could cost in these versions (CONTRACT 3.2: what a call that
 * names no version is charged at most). Versions without the endpoint do not count; undefined where none has it.
 */
export async function leastUnits(versions: Versions, versionIds: readonly number[], endpoint: string): Promise<number | undefined> {
    let least: number | undefined;
    // One after the other: all the packages of a busy day at once would not fit into memory.
    for (const id of versionIds) {
        const units = (await versions.unitsOf(id)).get(endpoint);
        if (units !== undefined) least = Math.min(units, least ?? units);
    }
    return least;
}

/** A package exactly as it was published (`site` normalised). */
export async function readPackage(db: Db, versionId: number): Promise<PackageDocument | undefined> {
    const { rows } = await db.raw<{ rows: { document: PackageDocument }[] }>('select document from versions where id = ?', [versionId]);
    return rows[0]?.document;
}

interface DocumentColumns {
    id: number;
    site: string;
    version: number;
    version_hash: string;
    document: string;
}
