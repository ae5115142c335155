import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { type GivenFile, MAX_FILE_BYTES } from '../../shared/domain/fetch/files.ts';
import { wrongUsage } from '../failures.ts';

const TYPES: Readonly<Record<string, string>> = {
    '.csv': 'text/csv',
    '.gif': 'image/gif',
    '.htm': 'text/html',
    '.html': 'text/html',
    '.jpeg': 'image/jpeg',
    '.jpg': 'image/jpeg',
    '.json': 'application/json',
    '.md': 'text/markdown',
    '.pdf': 'application/pdf',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain',
    '.webp': 'image/webp',
    '.xml': 'application/xml',
    '.zip': 'application/zip',
};

/** Reads a local file as a param; its type follows from its extension. @throws CommandFault if it is unreadable or too large */
export function readGivenFile(path: string, param: string): GivenFile {
    let bytes: Buffer;
    try {
        if (statSync(path).size > MAX_FILE_BYTES) throw wrongUsage(`the file ${path} for ${param} has more than ${MAX_FILE_BYTES} bytes`);
        bytes = readFileSync(path);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        throw wrongUsage(`the file ${path} for ${param} cannot be read: ${(error as Error).message}`);
    }
    return {
        filename: basename(path),
        content_type: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
        base64: bytes.toString('base64'),
    };
}
