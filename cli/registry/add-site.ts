import { join } from 'node:path';
import { CommandFault } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { askToReplace, writeText } from '../write-file.ts';

export interface AddOptions {
    version?: string;
    out: string;
}

/** `routebook add SITE`: typed functions for a site's hosted endpoints, in a file of the program that calls them. */
export async function addSite({ client, terminal }: Session, site: string, { version, out }: AddOptions): Promise<Done> {
    const { file, source } = await client().schemas.package(site, {
        ...(version === undefined ? {} : { version }),
        format: 'typescript',
    });
    // The name is the server's: it never leads out of the folder, and never replaces anything but such a file.
    if (!/^[\p{L}\p{N}._-]+\.ts$/u.test(file)) throw new CommandFault('INVALID_ANSWER', `The server named a file ${JSON.stringify(file)}.`);
    const path = join(out, file);
    await askToReplace(terminal, path);
    await writeText(path, source, { replaces: true });
    const { paint } = terminal;
    return { result: { file: path, site }, lines: [`${paint('green', '✓')} ${paint('bold', path)}: functions that call ${site}`] };
}
