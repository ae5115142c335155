import type { Request, Server } from '@hapi/hapi';
import { packed } from './packed.ts';

interface PublicFile {
    /** JSON by default. */
    type?: string;
    /** Whether pages of any origin may read it. */
    isOpen: boolean;
    /** How long caches keep it; an hour by default. */
    seconds?: number;
    read(request: Request): string | object | Promise<string | object>;
}

/** Serves what everybody may read and cache. */
export function servePublic(server: Server, path: string, { type, isOpen, seconds = 3600, read }: PublicFile): void {
    server.route({
        method: 'GET',
        path,
        options: { app: { isOpen } },
        handler: async (request, h) => {
            const file = await read(request);
            const response = typeof file === 'string' ? packed(file, request, h) : h.response(file);
            response.header('cache-control', `public, max-age=${seconds}`);
            return type === undefined ? response : response.type(type);
        },
    });
}
