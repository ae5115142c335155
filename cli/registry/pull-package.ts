import type { DownloadFormat } from '../../shared/domain/package/registry-choices.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { withEditorSchema } from '../authoring/write-draft.ts';
import { commandLines } from '../command-lines.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { askToReplace, writeText } from '../write-file.ts';
import { withoutVersion } from './published.ts';

interface PullOptions {
    version?: number | string;
    format: DownloadFormat;
    out?: string;
    /** Replaces the file without a question. */
    force?: true;
}

/** `routebook pull SITE`: downloads a package for a later push, or another format. A file names the JSON Schema for editors. */
export async function pullPackage({ client, terminal, note, server }: Session, site: string, options: PullOptions): Promise<Done> {
    const { version, format, out, force } = options;
    const query = version === undefined ? {} : { version };
    const { document, about, ...downloaded } = await download(client(), site, query, format);
    const edited = about === undefined || out === undefined ? document : withEditorSchema(document as PackageDocument, server);
    const text = downloaded.text ?? `${JSON.stringify(edited, undefined, 4)}\n`;
    if (out === undefined) {
        if (about !== undefined) note(`${about.site} version ${about.version}, hash ${about.version_hash}`);
        return { result: document, lines: [text.trimEnd()] };
    }
    if (force !== true) await askToReplace(terminal, out);
    await writeText(out, text, { replaces: true });
    const { paint } = terminal;
    const lines = [
        `${paint('green', '✓')} ${paint('bold', out)}: ${about === undefined ? `${site} as ${format}` : `${about.site} version ${about.version}`}`,
    ];
    if (about !== undefined) {
        lines.push('  publish changes with:');
        lines.push(...commandLines([`${PROGRAM} push ${out}`, '--if-match', about.version_hash], terminal));
    }
    return { result: { file: out, site, format, ...about }, lines };
}

async function download(
    client: ReturnType<Session['client']>,
    site: string,
    query: { version?: number | string },
    format: PullOptions['format'],
): Promise<{ document: unknown; about?: { site: string; version: number; version_hash: string }; text?: string }> {
    if (format === 'typescript' || format === 'python') {
        const file = await client.schemas.package(site, { ...query, format });
        return { document: file, text: file.source };
    }
    if (format === 'tools') return { document: await client.schemas.package(site, { ...query, format }) };
    if (format !== 'routebook') return { document: await client.schemas.package(site, { ...query, format }) };
    const { document, version, versionHash } = withoutVersion(await client.schemas.package(site, query));
    return { document, about: { site: document.site, version, version_hash: versionHash } };
}
