import { type FileHandle, open } from 'node:fs/promises';
import { confirm, isCancel } from '@clack/prompts';
import { isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { table } from '../../shared/platform/table.ts';
import { CommandFault, fileFault } from '../failures.ts';
import { CannotImport } from '../import/import.ts';
import type { ExampleCandidate } from '../inspect/example-candidate.ts';
import { type Inspected, type InspectSource, inspect } from '../inspect/inspect.ts';
import { NoBrowser, record } from '../inspect/record.ts';
import { awaitInterruption } from '../interruption.ts';
import { cancelled, type Done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import type { Paint } from '../terminal.ts';
import { type DraftOverrides, readOverrides } from './draft-overrides.ts';
import { siteOf } from './draft-package.ts';
import { cannotImport, toDoLines } from './import-package.ts';
import { type DraftPlace, draftFile, textOf, withEditorSchema, writeDraft } from './write-draft.ts';

interface InspectSiteOptions extends DraftPlace, DraftOverrides {
    /** Which recorded calls become examples: those that the user accepts one by one, none, or all. */
    examples?: 'ask' | 'none' | 'all';
    /** The browser's executable. */
    browser?: string;
}

/** `routebook inspect SOURCE`: drafts a package from a recording, an OpenAPI document or a visit, and reports what was left out. */
export async function inspectSite(session: Session, source: string, options: InspectSiteOptions): Promise<Done> {
    const { terminal, settings } = session;
    const isVisit = /^https?:\/\//.test(source);
    const overrides = readOverrides(options);
    const site = overrides.site ?? (isVisit ? siteOf(source) : undefined);
    const { egressAllow } = settings.egress();
    const confirmExample = exampleCheck(session, options);
    const interruption = isVisit ? awaitInterruption() : undefined;
    const from = interruption === undefined ? await sourceOf(source) : visit(session, source, options, interruption.signal);
    const progress = terminal.progress(`reading ${source}`);
    const unit = 'openapi' in from ? 'operation' : 'recorded call';
    const { package: draft, report } = await inspectOrFail(
        from,
        {
            ...overrides,
            ...(site === undefined ? {} : { site }),
            ...(confirmExample === undefined
                ? {}
                : {
                      confirmExample: (candidate) => {
                          progress.end();
                          return confirmExample(candidate);
                      },
                  }),
            isPortAllowed: (port) => isPortAllowed(egressAllow, port),
            onProgress: (read) => progress.update(`${counted(read, unit)} read`),
        },
        source,
    ).finally(() => {
        interruption?.end();
        progress.end();
    });
    if (draft.endpoints.length === 0) throw nothingFound(source, report, { unit, paint: terminal.paintError });
    const document = withEditorSchema(draft, session.server);
    if (options.out === '-') {
        for (const line of reportLines(report, terminal.paintError)) session.note(line);
        return { result: { file: null, package: document, report }, lines: [textOf(document).trimEnd()] };
    }
    const file = options.out ?? draftFile(document.site);
    await writeDraft(file, document, options);
    const { paint } = terminal;
    const head = `${paint('green', '✓')} ${paint('bold', file)}: ${counted(document.endpoints.length, 'endpoint')} of ${counted(report.read, unit)}`;
    const next = ['', `Look it over, then: ${PROGRAM} lint ${file}, ${PROGRAM} test ${file}`];
    return { result: { file, package: document, report }, lines: [head, ...reportLines(report, paint), ...next] };
}

async function inspectOrFail(source: InspectSource, options: Parameters<typeof inspect>[1], file: string): Promise<Inspected> {
    try {
        return await inspect(source, options);
    } catch (error) {
        if (error instanceof CannotImport) throw cannotImport(error, file);
        if (error instanceof NoBrowser) throw new CommandFault('NO_BROWSER', error.message);
        throw error;
    }
}

/** The error for a draft without endpoints, which is not written. */
function nothingFound(source: string, report: Inspected['report'], { unit, paint }: { unit: string; paint: Paint }): CommandFault {
    const message = `${source} has no call that can become an endpoint (${counted(report.read, unit)} read).`;
    return new CommandFault('NOTHING_FOUND', message, {
        lines: reportLines({ ...report, leftToDo: [] }, paint),
        fields: { file: source, report },
    });
}

/** Opens the site in a browser window and records its traffic until the user closes the window or presses Ctrl-C. */
function visit(
    { note, settings: { hasDisplay } }: Session,
    url: string,
    { browser }: InspectSiteOptions,
    signal: AbortSignal,
): InspectSource {
    note(`${url} opens in a browser with a separate profile. Do what the schema is for, then close the window.`);
    return { recording: record(url, { signal, hasDisplay, ...(browser === undefined ? {} : { executablePath: browser }) }) };
}

/** Recorded calls may contain private data, so none becomes a published example without the contributor's consent. */
function exampleCheck(
    { terminal, note }: Session,
    { examples = terminal.isInteractive ? 'ask' : 'none' }: InspectSiteOptions,
): ((candidate: ExampleCandidate) => boolean | Promise<boolean>) | undefined {
    if (examples === 'none') return undefined;
    if (examples === 'all') {
        return ({ endpoint, params }) => {
            note(`! published as an example: ${endpoint} ${JSON.stringify(params)}`);
            return true;
        };
    }
    return async ({ endpoint, params }) => {
        const answer = await confirm({
            output: process.stderr,
            message: `May everybody read this example?  ${endpoint} ${JSON.stringify(params)}`,
            initialValue: false,
        });
        if (isCancel(answer)) throw cancelled();
        return answer;
    };
}

/** Detects the kind of a source by its name and its first bytes. */
async function sourceOf(source: string): Promise<InspectSource> {
    if (source === '-') return { har: process.stdin };
    const start = await beginningOf(source);
    if (/\.har$/i.test(source) && /^\ufeff?\s*\{/.test(start)) return { har: source };
    if (/\.ya?ml$/i.test(source)) return { openapi: source };
    if (/"(?:openapi|swagger)"\s*:/.test(start)) return { openapi: source };
    if (/"log"\s*:\s*\{/.test(start)) return { har: source };
    throw new CommandFault('CANNOT_INSPECT', `${source} is neither a HAR file nor an OpenAPI document.`);
}

const BEGINNING = 64 * 1024;

async function beginningOf(file: string): Promise<string> {
    let handle: FileHandle | undefined;
    try {
        handle = await open(file);
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0);
        return buffer.subarray(0, bytesRead).toString('utf8');
    } catch (error) {
        throw fileFault(error, file);
    } finally {
        await handle?.close();
    }
}

function reportLines({ found, dropped, redacted, noticed, leftToDo }: Inspected['report'], paint: Paint): string[] {
    const rows = found.map(({ name, kind, method, url, samples }) => [name, kind, samples === 0 ? null : samples, `${method} ${url}`]);
    const section = (title: string, lines: string[]) =>
        lines.length === 0 ? [] : ['', `${paint('bold', title)} (${lines.length})`, ...lines];
    return [
        ...(rows.length === 0
            ? []
            : ['', ...table(['endpoint', 'kind', 'seen', 'request'], rows, { paint, tableWidth: Number.POSITIVE_INFINITY })]),
        ...section(
            'Left out',
            dropped.map(({ what, why }) => `  ${what}  ${paint('dim', why)}`),
        ),
        ...section(
            'Removed from the recording',
            redacted.map(({ where, kind }) => `  ${paint('yellow', kind)}  ${where}`),
        ),
        ...section(
            'Worth knowing',
            noticed.map(({ where, what }) => `  ${where}  ${paint('dim', what)}`),
        ),
        ...toDoLines(leftToDo, paint),
    ];
}
