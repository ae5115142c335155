import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseExact } from '../../shared/domain/json/exact-numbers.ts';
import { codeOfError } from '../../shared/platform/error-code.ts';
import { CommandFault } from '../failures.ts';

/** Stores API keys by server in one file that only this user can read. */
export interface StoredKeys {
    file: string;
    read(): { lastServer: string | undefined; keyOf(server: string): string | undefined };
    store(server: string, apiKey: string): void;
    /** False if there was none. */
    remove(server: string): boolean;
}

interface Content {
    last_server?: string;
    servers: Record<string, { api_key: string }>;
}

/** Opens the stored keys of a folder. The folder and the file are created with the first key. */
export function keysIn(folder: string): StoredKeys {
    const file = join(folder, 'credentials.json');
    return {
        file,
        read() {
            const { last_server: lastServer, servers } = readContent(file);
            return { lastServer, keyOf: (server) => (Object.hasOwn(servers, server) ? servers[server]?.api_key : undefined) };
        },
        store(server, apiKey) {
            const { servers } = readContent(file);
            write(folder, file, { last_server: server, servers: { ...servers, [server]: { api_key: apiKey } } });
        },
        remove(server) {
            const content = readContent(file);
            if (!Object.hasOwn(content.servers, server)) return false;
            const { [server]: _removed, ...servers } = content.servers;
            write(folder, file, { ...content, servers });
            return true;
        },
    };
}

function readContent(file: string): Content {
    let text: string;
    try {
        text = readFileSync(file, 'utf8');
    } catch (error) {
        if (codeOfError(error) === 'ENOENT') return { servers: {} };
        throw new CommandFault('CREDENTIALS_UNREADABLE', `${file} cannot be read: ${String(error)}`);
    }
    const content: unknown = tryParseExact(text);
    if (!isContent(content)) throw new CommandFault('CREDENTIALS_UNREADABLE', `${file} is damaged; remove it and log in again`);
    return content;
}

function isContent(value: unknown): value is Content {
    return typeof value === 'object' && value !== null && 'servers' in value && typeof value.servers === 'object' && value.servers !== null;
}

/** Replaces the file atomically, with permissions for this user alone from the first byte. */
function write(folder: string, file: string, content: Content): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}`;
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(content, undefined, 4)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
}
