import { hash, subtle } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { PackageQuery, SiteParams } from '../../shared/contracts/schemas.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { DownloadFormat } from '../../shared/domain/package/registry-choices.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findVersion, type VersionRef } from '../../shared/store/registry/history.ts';
import { readPackageText } from '../../shared/store/registry/versions.ts';
import { perApp } from '../admission/per-app.ts';
import type { AnswerWithETag, Bytes } from '../answers/etag.ts';
import type { OpenCall } from '../call.ts';
import { workOnPackage } from '../packages/work.ts';

/** GET /v1/schemas/{site}/package: the published package with its version, or an export in another `format`. */
export async function downloadPackage({ app, params, query }: OpenCall<SiteParams, PackageQuery, unknown>): Promise<AnswerWithETag> {
    const { site, registrable } = readSite(params.site, '/site');
    const siteState = await app.latest.find({ site, registrable });
    if (!siteState.isKnown || (query.version === undefined && siteState.version === undefined)) throw siteNotFound(site);
    const version = query.version === undefined ? siteState.version : await findVersion(app.browse, site, readVersion(query.version));
    // Nobody may read a version that was yanked for legal reasons.
    if (version === undefined || version.yankReason === 'legal') throw new Refusal('VERSION_NOT_FOUND');
    return filesOf(app).fileOf(version, query.format ?? 'routebook');
}

const filesOf = perApp(({ browse, publicUrl }) => createPackageFiles(browse, publicUrl));

/** PostgreSQL's integer limit. */
const MAX_VERSION = 2 ** 31 - 1;

/** Reads a version number or hash. A hash has 64 digits, a number fewer. */
function readVersion(text: string): number | string {
    return text.length === 64 ? text : Math.min(Number(text), MAX_VERSION);
}

/** Files of packages with more characters are cached. */
const CACHED_ABOVE = 64 * 1024;
/** Maximum number of bytes of cached files. Four of the largest fit, each also gzipped. */
const KEPT_BYTES = 20 * 1024 * 1024;

const gzip = promisify(gzipCallback);

type Made = Bytes & { tag: string };

/**
 * Builds and caches the files of packages, per process. A package has up to 4 MiB, so concurrent requests for the same file share one read
 * and one gzip.
 * @param base returns the URL of this server, which exported collections of requests contain
 */
function createPackageFiles(db: Db, base: () => string) {
    const kept = new LRUCache<string, Made>({ maxSize: KEPT_BYTES, sizeCalculation: bytesOf });
    const underWay = new Map<string, Promise<Made>>();

    function read(version: VersionRef, format: DownloadFormat): Made | Promise<Made> {
        const key = `${version.versionId} ${format}`;
        return kept.get(key) ?? getOrMake(underWay, key, () => make(version, format).finally(() => underWay.delete(key)));
    }

    async function make(version: VersionRef, format: DownloadFormat): Promise<Made> {
        const text = await readPackageText(db, version.versionId, { maxCharacters: CACHED_ABOVE });
        if (text === undefined) return makeLarge(version, format);
        const plain = await makeText(version, format, text, base());
        return { plain, tag: tagOf(version, format, plain) };
    }

    async function makeLarge(version: VersionRef, format: DownloadFormat): Promise<Made> {
        const text = await readPackageText(db, version.versionId);
        if (text === undefined) throw new Refusal('VERSION_NOT_FOUND');
        const plain = Buffer.from(await makeText(version, format, text, base()));
        const [gzipped, tag] = await Promise.all([gzip(plain), tagOfLarge(version, format, plain)]);
        const made = { plain, gzipped, tag };
        kept.set(`${version.versionId} ${format}`, made);
        return made;
    }

    return {
        /**
         * The file of a version that may be read. A current copy costs no read for `routebook`. An export must be built first, since its
         * ETag is the hash of its bytes.
         */
        async fileOf(version: VersionRef, format: DownloadFormat): Promise<AnswerWithETag> {
            if (format === 'routebook') return { tag: revisionOf(version), read: async () => read(version, format) };
            const made = await read(version, format);
            return { tag: made.tag, read: async () => made };
        },
    };
}

/** Builds the whole answer. Exports are built in a thread, in the queue of their version. */
async function makeText(version: VersionRef, format: DownloadFormat, text: string, base: string): Promise<string> {
    const { versionId, versionHash, publishedAt } = version;
    // Stored packages are spliced into the answer without parsing.
    if (format === 'routebook') {
        const published = JSON.stringify({ version: version.version, version_hash: versionHash, published_at: publishedAt.toISOString() });
        return `{"success":true,"data":${text.slice(0, text.lastIndexOf('}'))},${published.slice(1)}}`;
    }
    if (format === 'tools') return (await workOnPackage('tools', String(versionId), { text })).answer;
    if (format === 'postman' || format === 'bruno') {
        return (await workOnPackage(format, String(versionId), { text, about: { versionHash, base } })).answer;
    }
    if (format === 'typescript' || format === 'python') return (await workOnPackage(format, String(versionId), { text, version })).answer;
    return (await workOnPackage('openapi', String(versionId), { text, version })).answer;
}

/** The ETag of a file. The tag of an export is the hash of its bytes, since the code that builds it may change. */
function tagOf(version: VersionRef, format: DownloadFormat, plain: string | Buffer): string {
    return format === 'routebook' ? revisionOf(version) : sha256(plain);
}

/** The same for a large file. It is hashed outside of the event loop. */
async function tagOfLarge(version: VersionRef, format: DownloadFormat, plain: Buffer<ArrayBuffer>): Promise<string> {
    return format === 'routebook' ? revisionOf(version) : Buffer.from(await subtle.digest('SHA-256', plain)).toString('hex');
}

/**
 * The ETag of a package. A version is immutable, so its id and metadata identify the bytes. Increase the 1 in `package 1` when the format
 * changes.
 */
function revisionOf({ versionId, version, versionHash, publishedAt }: VersionRef): string {
    return sha256(`package 1 ${versionId} ${version} ${versionHash} ${publishedAt.toISOString()}`);
}

function sha256(bytes: string | Buffer): string {
    return hash('sha256', bytes);
}

function bytesOf({ plain, gzipped }: Bytes): number {
    return plain.length + (gzipped?.length ?? 0);
}
