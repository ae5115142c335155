import { join } from 'node:path';
import { defined } from '../../shared/domain/defined.ts';
import { exportTypeScript, type SourceFile } from '../../shared/domain/package/typescript-export.ts';
import type { Routebook } from '../client/index.ts';
import { CommandFault, wrongUsage } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { askToReplace, writeText } from '../write-file.ts';
import { withoutVersion } from './published.ts';

interface AddOptions {
    version?: number | string;
    endpoint?: string[];
    out: string;
}

/** `routebook add SITE`: writes a file of typed functions for a site's hosted endpoints. */
export async function addSite({ client, terminal }: Session, site: string, { version, endpoint, out }: AddOptions): Promise<Done> {
    const { file, source } = await functionsOf(client(), site, defined({ version, only: endpoint }));
    const path = join(out, file);
    // The file is generated, so a script may replace it. On a terminal the user is asked first.
    if (terminal.isInteractive) await askToReplace(terminal, path);
    await writeText(path, source, { replaces: true });
    const { paint } = terminal;
    return { result: { file: path, site }, lines: [`${paint('green', '✓')} ${paint('bold', path)}: functions that call ${site}`] };
}

/** Downloads the file of functions. @throws CommandFault if the site lacks one of the endpoints */
export async function functionsOf(
    client: Routebook,
    site: string,
    { version, only }: { version?: number | string; only?: readonly string[] },
): Promise<SourceFile> {
    const query = defined({ version });
    const made =
        only === undefined
            ? await client.schemas.package(site, { ...query, format: 'typescript' })
            : await exportEndpoints(client, site, query, only);
    // The server chooses the name, so it must stay within the folder and have the form of a generated file.
    if (!/^[\p{L}\p{N}._-]+\.ts$/u.test(made.file))
        throw new CommandFault('INVALID_ANSWER', `The server named a file ${JSON.stringify(made.file)}.`);
    return made;
}

async function exportEndpoints(
    client: Routebook,
    site: string,
    query: { version?: number | string },
    only: readonly string[],
): Promise<SourceFile> {
    const { document, version, versionHash } = withoutVersion(await client.schemas.package(site, query));
    const hosted = document.endpoints.filter((endpoint) => endpoint.hosted !== false).map(({ name }) => name);
    const missing = only.find((name) => !hosted.includes(name));
    if (missing !== undefined) throw wrongUsage(`${site} has no hosted endpoint ${missing}; it has ${hosted.join(', ')}`);
    return exportTypeScript(document, { version, versionHash }, only);
}
