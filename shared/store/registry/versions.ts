import { LRUCache } from 'lru-cache';
import { greatestUnits } from '../../domain/package/diff.ts';
import { readEndpoint } from '../../domain/package/endpoint.ts';
import { LazyEndpoints, splitPackage } from '../../domain/package/large-package.ts';
import type { Endpoint, PackageAuth, PackageDocument } from '../../domain/types.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';

/** Characters of packages kept in memory; what is made of them takes a few times as many bytes. */
const CACHED_CHARACTERS = 8 * 1024 * 1024;
const CACHED_VERSIONS = 5000;
/**
 * A version is cached when it is read for the second time within a number of reads. So a walk through the registry does not evict versions
 * in use, and does not produce megabytes of garbage per second.
 */
const WANTED_VERSIONS = 5000;
/** Endpoints whose greatest units are kept; they outlive the packages, since a site may have had hundreds of large ones within a day. */
const CACHED_UNITS = 100_000;

export interface LoadedVersion {
    versionId: number;
    site: string;
    version: number;
    versionHash: string;
    /** By name, in the package's order. A Map, since names are user input. */
    endpoints: ReadonlyMap<string, Endpoint>;
    /** The same as a list; of a large package all endpoints are read for it. */
    inOrder: readonly Endpoint[];
    /** Names of all hosts that it calls, sorted. */
    hosts: readonly string[];
    /** How the site accepts credentials of callers; empty if it accepts none. */
    auth: readonly PackageAuth[];
}

export interface Versions {
    /** An immutable version, every default filled in; undefined if there is no such id. */
    load(versionId: number): Promise<LoadedVersion | undefined>;
    /** The same as far as it is in memory. */
    recall(versionId: number): LoadedVersion | undefined;
    /** Adds a version that another query has read. */
    take(row: VersionDocument): LoadedVersion;
    /** The most units that one call of an endpoint of this version may cost; undefined if the version does not exist. */
    unitsOf(versionId: number, endpoint: string): Promise<number | undefined>;
}

/** Versions for one process, kept in memory as far as they are used. */
export function createVersions(db: Db): Versions {
    const cache = new LRUCache<number, LoadedVersion>({
        max: CACHED_VERSIONS,
        maxSize: CACHED_CHARACTERS,
    });
    const wanted = growingCache<number, true>(WANTED_VERSIONS);
    const units = growingCache<string, number>(CACHED_UNITS);
    const asked = new Map<number, Promise<LoadedVersion | undefined>>();
    const { add: look } = openBatch({ run: (ids: readonly number[]) => readVersions(db, ids) });

    async function read(versionId: number): Promise<LoadedVersion | undefined> {
        const row = await look(versionId);
        return row && take(row);
    }

    function take(row: VersionDocument): LoadedVersion {
        const loaded = toLoaded(row);
        if (wanted.has(row.id)) cache.set(row.id, loaded, { size: row.document.length });
        else wanted.set(row.id, true);
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
        recall: (versionId) => cache.get(versionId),
        take,
        async unitsOf(versionId, name) {
            const key = `${versionId} ${name}`;
            const cached = units.get(key);
            if (cached !== undefined) return cached;
            const endpoint = (await load(versionId))?.endpoints.get(name);
            if (endpoint === undefined) return undefined;
            units.set(key, greatestUnits(endpoint));
            return greatestUnits(endpoint);
        },
    };
}

/**
 * The least of the greatest units that one call of an endpoint could cost in these versions (docs/api.md, "Registry": what a call that
 * names no version is charged at most). Versions without the endpoint do not count; undefined if none has it.
 */
export async function lowestMaxUnits(versions: Versions, versionIds: readonly number[], endpoint: string): Promise<number | undefined> {
    let least: number | undefined;
    // One after the other: all the packages of a busy day at once would not fit into memory.
    for (const id of versionIds) {
        const units = await versions.unitsOf(id, endpoint);
        if (units !== undefined) least = Math.min(units, least ?? units);
    }
    return least;
}

/** A package exactly as it was published (`site` normalised). */
export async function readPackage(db: Db, versionId: number): Promise<PackageDocument | undefined> {
    return (await db('versions').where({ id: versionId }).first('document'))?.document;
}

/**
 * The same as it is stored, as JSON text; undefined if there is no such version, or where it has more than `most` characters.
 */
export async function readPackageText(db: Db, versionId: number, { most }: { most?: number } = {}): Promise<string | undefined> {
    const version = db('versions').where({ id: versionId });
    if (most !== undefined) version.whereRaw('length(document::text) <= ?', [most]);
    return (await version.first({ text: db.raw('document::text') }))?.text;
}

const TIMEOUT_MS = 5000;

const VERSIONS: PreparedQuery = {
    name: 'versions_with_hosts',
    text: `select v.id, v.site, v.version, v.version_hash, v.hosts, v.document::text as document
        from unnest((select $1::bigint[])) with ordinality as asked (id, place) left join versions v on v.id = asked.id order by place`,
};

/** Each at the place of its id; undefined if there is none. */
async function readVersions(db: Db, ids: readonly number[]): Promise<(VersionDocument | undefined)[]> {
    const rows = await runPrepared<VersionDocument | { id: null }>(db, VERSIONS, [ids], TIMEOUT_MS);
    return rows.map((row) => (row.id === null ? undefined : row));
}

interface VersionDocument {
    id: number;
    site: string;
    version: number;
    version_hash: string;
    hosts: string[];
    document: string;
}

/** Characters of a package whose endpoints are read one by one, when they are asked for. */
const LARGE = 64 * 1024;

function toLoaded(row: VersionDocument): LoadedVersion {
    const known = { versionId: row.id, site: row.site, version: row.version, versionHash: row.version_hash, hosts: row.hosts };
    if (row.document.length > LARGE) {
        const { endpoints: texts, auth } = splitPackage(row.document);
        const endpoints = new LazyEndpoints(texts);
        return {
            ...known,
            auth: JSON.parse(auth) as PackageAuth[],
            endpoints,
            get inOrder() {
                return [...endpoints.values()];
            },
        };
    }
    const document = JSON.parse(row.document) as PackageDocument;
    const inOrder = document.endpoints.map(readEndpoint);
    return { ...known, auth: document.auth ?? [], endpoints: new Map(inOrder.map((endpoint) => [endpoint.name, endpoint])), inOrder };
}
