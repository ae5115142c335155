import { createHash } from 'node:crypto';
import type { JsonObject, JsonSchema, PackageDocument, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';

export const PACKAGES = 'packages.test';

/** Long enough that a server compresses the response with it. */
export const README = 'All about it. '.repeat(300);

/** The npm registry's routes in verdaccio, on a subdomain of the site. */
export function packagesPackage(port: number): PackageDocument {
    const base = `http://npm.${PACKAGES}:${port}`;
    const reads: PackageEndpoint[] = [
        { name: 'ping', method: 'GET', url: `${base}/-/ping` },
        {
            name: 'read_package',
            method: 'GET',
            url: `${base}/{package}`,
            params: [NAME],
            response: {
                select: { name: 'name', latest: '"dist-tags".latest', versions: 'keys(versions)', readme: 'readme' },
                schema: { type: 'object', required: ['name', 'versions'], properties: { name: { type: 'string' } } },
            },
        },
        {
            name: 'read_version',
            method: 'GET',
            url: `${base}/{package}/{version}`,
            params: [NAME, path('version')],
            response: { select: { name: 'name', version: 'version', keywords: 'keywords', shasum: 'dist.shasum' } },
        },
        { name: 'read_tags', method: 'GET', url: `${base}/-/package/{package}/dist-tags`, params: [NAME] },
        {
            name: 'search_packages',
            kind: 'search',
            method: 'GET',
            url: `${base}/-/v1/search`,
            params: [
                { name: 'text', source: 'query', required: true, schema: { type: 'string', maxLength: 200 } },
                { name: 'size', source: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 }, default: 20 },
                { name: 'from', source: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
            ],
            response: { select: { items: 'objects[].package.{name: name, description: description}' } },
            billing: { unit: 'result' },
        },
        { name: 'open_front_page', kind: 'navigate', method: 'GET', url: `${base}/` },
        {
            name: 'list_scripts',
            kind: 'navigate',
            method: 'GET',
            url: `${base}/`,
            response: { select: { title: 'title', scripts: [{ selector: 'script', value: 'src' }] } },
        },
        { name: 'download', method: 'GET', url: `${base}/{package}/-/{file}`, params: [NAME, path('file')] },
    ];
    const writes: PackageEndpoint[] = [
        {
            name: 'publish_package',
            method: 'PUT',
            url: `${base}/{package}`,
            params: [
                NAME,
                body('_id', TEXT),
                body('name', TEXT),
                body('dist-tags', OBJECT),
                body('versions', OBJECT),
                body('readme', { type: 'string' }),
                body('_attachments', OBJECT),
            ],
            response: { select: { said: 'ok' } },
        },
        {
            name: 'set_tag',
            method: 'PUT',
            url: `${base}/-/package/{package}/dist-tags/{tag}`,
            params: [NAME, path('tag'), body('version', TEXT)],
            // The complete body is one JSON string.
            body: '{version}',
        },
        { name: 'remove_tag', method: 'DELETE', url: `${base}/-/package/{package}/dist-tags/{tag}`, params: [NAME, path('tag')] },
        {
            name: 'add_user',
            method: 'PUT',
            url: `${base}/-/user/org.couchdb.user:{user}`,
            params: [path('user'), body('name', TEXT), body('password', TEXT)],
            // The token in its response is not selected.
            response: { select: { said: 'ok' } },
        },
    ];
    return {
        format: 'routebook/1',
        site: PACKAGES,
        title: 'A package registry',
        intent_category: 'developer/packages',
        endpoints: [...reads, ...writes],
    };
}

const TEXT: JsonSchema = { type: 'string', maxLength: 200 };
const OBJECT: JsonSchema = { type: 'object' };
const NAME: PackageParam = path('package');

function path(name: string): PackageParam {
    return { name, source: 'path', required: true, schema: TEXT };
}

function body(name: string, schema: JsonSchema): PackageParam {
    return { name, source: 'body', required: true, schema };
}

/** The body that npm sends to publish a version: the params of `publish_package`. */
export function publication(name: string, version: string, { description, tarball }: { description: string; tarball: string }): JsonObject {
    const bytes = Buffer.from(tarball);
    const file = `${name}-${version}.tgz`;
    return {
        package: name,
        _id: name,
        name,
        'dist-tags': { latest: version },
        versions: {
            [version]: {
                name,
                version,
                description,
                keywords: ['hardware'],
                readme: README,
                dist: { shasum: sha1(bytes), tarball: `http://npm.${PACKAGES}/${name}/-/${file}` },
            },
        },
        readme: README,
        _attachments: { [file]: { content_type: 'application/octet-stream', data: bytes.toString('base64'), length: bytes.length } },
    };
}

export function sha1(bytes: Buffer | string): string {
    return createHash('sha1').update(bytes).digest('hex');
}
