import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The problems that Redocly's linter finds in OpenAPI documents by its rules for the specification, as `name: where what`. */
export async function lintOpenApi(documents: Readonly<Record<string, object>>): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'routebook-openapi-'));
    try {
        const names = Object.keys(documents);
        await Promise.all(names.map((name, index) => writeFile(join(folder, `${index}.json`), JSON.stringify(documents[name]))));
        const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
        const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { redocly: string } };
        const files = names.map((_name, index) => `${index}.json`);
        const program = [
            join(manifest, '..', bin.redocly),
            'lint',
            '--extends',
            'spec',
            '--format',
            'json',
            '--max-problems',
            '1000',
            ...files,
        ];
        const reports = await run(folder, program);
        return reports
            .flatMap(({ problems }) => problems)
            .map(({ message, location: [place] }) => {
                const name = names[Number.parseInt(place?.source.ref.split('/').at(-1) ?? '', 10)];
                return `${name}: ${place?.pointer} ${message}`;
            });
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
}

interface Report {
    problems: { message: string; location: { source: { ref: string }; pointer?: string }[] }[];
}

/**
 * Disables telemetry, since the suite runs without the internet. The linter exits with an error if it finds problems, but still reports
 * them.
 */
function run(folder: string, program: string[]): Promise<Report[]> {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', HOME: folder };
    return new Promise((done, fail) => {
        execFile(process.execPath, program, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
            try {
                // The output has one report per file, without separators.
                done(stdout.split(/(?<=\n\})(?=\{\n)/).map((report) => JSON.parse(report) as Report));
            } catch {
                fail(new Error(`the linter did not report: ${error?.message ?? ''}\n${stdout.slice(0, 500)}\n${stderr.slice(0, 2000)}`));
            }
        });
    });
}
