import { LRUCache } from 'lru-cache';
import { getOrMake } from '../../domain/get-or-make.ts';
import { readEndpoint } from '../../domain/package/endpoint.ts';
import { type EndpointsByName, LazyEndpoints, splitPackage } from '../../domain/package/large-package.ts';
import { greatestUnits } from '../../domain/package/pricing.ts';
import type { Endpoint, PackageAuth, PackageDocument } from '../../domain/types.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { growingCache } from '../../platform/growing-cache.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import type { VersionRef } from './history.ts';

/** Maximum length of cached packages in characters. Their parsed form takes several times as many bytes. */
const CACHED_CHARACTERS = 8 * 1024 * 1024;
const CACHED_VERSIONS = 5000;
/** A version is cached when it is read again within this many others, so that a walk through the registry evicts nothing. */
const WANTED_VERSIONS = 5000;
/** How many versions are read at a time for the price of a call. */
const UNITS_AT_ONCE = 8;
/** Maximum endpoints whose `greatestUnits` are cached, longer than packages: a site may have hundreds of large ones in a day. */
const CACHED_UNITS = 100_000;

export interface LoadedVersion extends Pick<VersionRef, 'versionId' | 'version' | 'versionHash'> {
    site: string;
    endpoints: EndpointsByName;
    /** The endpoints as a list. For a large package, this parses all of them. */
    inOrder: readonly Endpoint[];
    /** Names of all hosts that it calls, sorted. */
    hosts: readonly string[];
    /** How the site accepts credentials of callers; empty if it accepts none. */
    auth: readonly PackageAuth[];
}

export interface Versions {
    /** Reads an immutable version with all defaults filled in; undefined if there is no such id. */
    load(versionId: number): Promise<LoadedVersion | undefined>;
    /** The version, if it is cached. */
    recall(versionId: number): LoadedVersion | undefined;
    /** Adds a version that another query has read. */
    take(row: VersionDocument): LoadedVersion;
    /** Maximum number of units that one call of an endpoint of this version can be billed; undefined if it has no such endpoint. */
    unitsOf(versionId: number, endpoint: string): Promise<number | undefined>;
}

/** The versions for one process, with a cache of those in use. */
export function createVersions(db: Db): Versions {
    const cache = new LRUCache<number, LoadedVersion>({ max: CACHED_VERSIONS, maxSize: CACHED_CHARACTERS });
    const wanted = growingCache<number, true>(WANTED_VERSIONS);
    const units = growingCache<string, number | false>(CACHED_UNITS);
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
        return cached ?? getOrMake(asked, versionId, () => read(versionId).finally(() => asked.delete(versionId)));
    }

    return {
        load,
        recall: (versionId) => cache.get(versionId),
        take,
        async unitsOf(versionId, name) {
            const key = `${versionId} ${name}`;
            const cached = units.get(key);
            if (cached !== undefined) return cached || undefined;
            const endpoint = (await load(versionId))?.endpoints.get(name);
            // Versions never change, so an endpoint that one does not have is remembered, too.
            const found = endpoint !== undefined && greatestUnits(endpoint);
            units.set(key, found);
            return found || undefined;
        },
    };
}

/**
 * The minimum of the maximum units that one call of an endpoint can be billed in these versions (docs/api.md, "The registry": the maximum
 * charge of a call that names no version). Versions without the endpoint do not count; undefined if none has it.
 */
export async function lowestMaxUnits(versions: Versions, versionIds: readonly number[], endpoint: string): Promise<number | undefined> {
    let min: number | undefined;
    // All packages of a busy day would not fit into memory; one query for each would take seconds.
    for (let first = 0; first < versionIds.length; first += UNITS_AT_ONCE) {
        const ids = versionIds.slice(first, first + UNITS_AT_ONCE);
        const found = await Promise.all(ids.map((id) => versions.unitsOf(id, endpoint)));
        for (const units of found) if (units !== undefined) min = Math.min(units, min ?? units);
    }
    return min;
}

/** A package as published, with its site normalised; undefined if it does not exist or is longer than `maxCharacters`. */
export async function readPackageText(
    db: Db,
    versionId: number,
    { maxCharacters }: { maxCharacters?: number } = {},
): Promise<string | undefined> {
    const version = db('versions').where({ id: versionId });
    if (maxCharacters !== undefined) version.whereRaw('length(document::text) <= ?', [maxCharacters]);
    return (await version.first({ text: db.raw('document::text') }))?.text;
}

const TIMEOUT_MS = 5000;

const VERSIONS: PreparedQuery = {
    name: 'versions_with_hosts',
    text: `select v.id, v.site, v.version, v.version_hash, v.hosts, v.document::text as document
        from unnest((select $1::bigint[])) with ordinality as asked (id, place) left join versions v on v.id = asked.id order by place`,
};

/** The versions in the order of their ids; undefined if there is none. */
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

/** Packages with more characters than this are read endpoint by endpoint, on first use. */
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
