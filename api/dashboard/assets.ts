import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import { servePublic } from '../answers/public-file.ts';

const require = createRequire(import.meta.url);
const own = (name: string) => fileURLToPath(new URL(`assets/${name}`, import.meta.url));

/** All files that pages may load: our own, and libraries from node_modules. No other file is served. */
const FILES = {
    'style.css': own('style.css'),
    'app.js': own('app.js'),
    'dashboard.css': own('dashboard.css'),
    'dashboard.js': own('dashboard.js'),
    'docs.css': own('docs.css'),
    'home.css': own('home.css'),
    'docs.js': own('docs.js'),
    'registry.css': own('registry.css'),
    'package-file.js': own('package-file.js'),
    'passkey.js': own('passkey.js'),
    'icon.svg': own('icon.svg'),
    'htmx.js': require.resolve('htmx.org/dist/htmx.min.js'),
};

const TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
} as const;

type AssetName = keyof typeof FILES;

interface Asset {
    bytes: Buffer;
    type: string;
    url: string;
}

const loaded = new Map<string, Asset>(
    Object.entries(FILES).map(([name, file]) => {
        const type = TYPES[extname(name) as keyof typeof TYPES];
        const bytes = compact(name, readFileSync(file));
        // The URL changes with the content, so browsers may cache it forever.
        const version = hash('sha256', bytes).slice(0, 16);
        return [name, { bytes, type, url: `/assets/${version}/${name}` }];
    }),
);

/** Removes comments and indentation from our files, a quarter of their size. They contain no multi-line strings. */
function compact(name: string, bytes: Buffer): Buffer {
    if (name.endsWith('.css')) return compactSheet(bytes.toString());
    return name.endsWith('.js') && name !== 'htmx.js' ? Buffer.from(bytes.toString().replaceAll(/^\s*(\/\/.*\s*)*/gm, '')) : bytes;
}

function compactSheet(css: string): Buffer {
    return Buffer.from(
        css
            .replaceAll(/\/\*[\s\S]*?\*\//g, '')
            .replaceAll(/(?<!\s)\s*\n\s*/g, '\n')
            .replaceAll(/(?<!\s)\s*([{};])\s*/g, '$1'),
    );
}

/** The URL of a file, with a hash of its content. */
export function assetUrl(name: AssetName): string {
    return loaded.get(name)?.url ?? '';
}

/** Serves the files from memory. URLs of older versions return the current file. */
export function assets(server: Server): void {
    const send = (name: string) => {
        const asset = loaded.get(name);
        if (asset === undefined) throw new Refusal('NOT_FOUND');
        return asset;
    };
    server.route({
        method: 'GET',
        path: '/assets/{version}/{name}',
        options: { app: { isOpen: false } },
        handler: (request, h) => {
            const { bytes, type, url } = send(String(request.params['name']));
            const isCurrent = url === request.path;
            return h
                .response(bytes)
                .type(type)
                .header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
                .header('cross-origin-resource-policy', 'same-origin');
        },
    });
    servePublic(server, '/favicon.ico', { type: 'image/svg+xml', isOpen: false, seconds: 86_400, read: () => send('icon.svg').bytes });
}
