import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import type { Listing } from './listing.ts';
import type { ApiRequest, CallOptions } from './transport.ts';
import type {
    Card,
    DownloadedPackage,
    JsonObject,
    MaintainerEntry,
    PackageDocument,
    PublishAnswer,
    RequestAnswer,
    RequestCreated,
    RequestOrder,
    SchemasQuery,
    SourceFile,
    ToolDefinition,
    VersionEntry,
    YankOrder,
} from './types.ts';

/** The query of a list without the cursor, which the listing sets. */
export type ListQuery = Omit<SchemasQuery, 'cursor'>;

/** A version by its number or hash, and the format of the download. */
interface PackageQuery<Format> {
    version?: number | string;
    format: Format;
}

/** Published schemas, and publishing. */
export class Schemas extends Resource {
    list(query: ListQuery = {}, options?: CallOptions): Listing<Card> {
        return listItems(this.transport, '/v1/schemas', { ...query }, options);
    }

    get(site: string, options?: CallOptions): Promise<Card> {
        return data(this.transport, getRequest(sitePath(site)), options);
    }

    /** Newest first. */
    versions(site: string, query: { limit?: number } = {}, options?: CallOptions): Listing<VersionEntry> {
        return listItems(this.transport, `${sitePath(site)}/versions`, query, options);
    }

    /** The package as published, of the latest or a named version. */
    package(site: string, query?: Partial<PackageQuery<'routebook'>>, options?: CallOptions): Promise<DownloadedPackage>;
    /** The site as an OpenAPI 3.1 document, or its hosted endpoints as a Postman or Bruno collection. */
    package(site: string, query: PackageQuery<'openapi' | 'postman' | 'bruno'>, options?: CallOptions): Promise<JsonObject>;
    /** The site's endpoints as tools of a language model. */
    package(site: string, query: PackageQuery<'tools'>, options?: CallOptions): Promise<ToolDefinition[]>;
    /** The site's hosted endpoints as functions in TypeScript or Python. */
    package(site: string, query: PackageQuery<'typescript' | 'python'>, options?: CallOptions): Promise<SourceFile>;
    async package(site: string, { version, format }: Partial<PackageQuery<string>> = {}, options?: CallOptions): Promise<unknown> {
        const request = { ...getRequest(`${sitePath(site)}/package`), query: { version, format } };
        // Documents in other formats have no envelope.
        return format === 'openapi' || format === 'postman' || format === 'bruno'
            ? this.transport.call(request, options)
            : data(this.transport, request, options);
    }

    /** Publishes a package at once. @param ifMatch hash of the version to replace; VERSION_CONFLICT if it is not the latest */
    publish(
        document: PackageDocument | JsonObject,
        { dryRun, ifMatch }: { dryRun?: boolean; ifMatch?: string } = {},
        options?: CallOptions,
    ): Promise<PublishAnswer> {
        return data(
            this.transport,
            {
                method: 'POST',
                path: '/v1/schemas',
                query: { dry_run: dryRun === true ? true : undefined },
                body: document,
                ...(ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch === '*' ? '*' : `"${ifMatch}"` } }),
                // Repeatable: the same content creates no new version, independent of If-Match.
                isRepeatable: true,
            },
            options,
        );
    }

    /** Yanks a version. Repeating it has no further effect. */
    yank(site: string, version: number, { reason }: YankOrder, options?: CallOptions): Promise<VersionEntry> {
        return data(this.transport, { ...writeRequest('POST', yankPath(site, version)), body: { reason } }, options);
    }

    unyank(site: string, version: number, options?: CallOptions): Promise<VersionEntry> {
        return data(this.transport, writeRequest('DELETE', yankPath(site, version)), options);
    }
}

/** The workspaces that may publish versions for a registrable domain. */
export class Maintainers extends Resource {
    /** Oldest maintainers first. */
    list(site: string, query: { limit?: number } = {}, options?: CallOptions): Listing<MaintainerEntry> {
        return listItems(this.transport, `${sitePath(site)}/maintainers`, query, options);
    }

    add(site: string, workspaceId: string, options?: CallOptions): Promise<MaintainerEntry[]> {
        return data(this.transport, writeRequest('PUT', maintainerPath(site, workspaceId)), options);
    }

    /** Removes your own workspace at once, another one after 24 hours (`removal_at`), unless its owners stop that. */
    remove(site: string, workspaceId: string, options?: CallOptions): Promise<MaintainerEntry[]> {
        return data(this.transport, writeRequest('DELETE', maintainerPath(site, workspaceId)), options);
    }
}

/** Requests for missing schemas. */
export class Requests extends Resource {
    create(order: RequestOrder, options?: CallOptions): Promise<RequestCreated> {
        const request: ApiRequest = { ...writeRequest('POST', '/v1/schema-requests'), body: order };
        // Without an API key the server ignores Idempotency-Key.
        return data(this.transport, { ...request, isRepeatable: this.transport.hasKey }, options);
    }

    get(requestId: string, options?: CallOptions): Promise<RequestAnswer> {
        return data(this.transport, getRequest(`/v1/schema-requests/${encodeURIComponent(requestId)}`), options);
    }
}

function sitePath(site: string): string {
    return `/v1/schemas/${encodeURIComponent(site)}`;
}

function yankPath(site: string, version: number): string {
    return `${sitePath(site)}/versions/${version}/yank`;
}

function maintainerPath(site: string, workspaceId: string): string {
    return `${sitePath(site)}/maintainers/${encodeURIComponent(workspaceId)}`;
}
