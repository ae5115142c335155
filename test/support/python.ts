import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const PYTHON = '/usr/bin/python3';
const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url));

/** Python in a virtual environment. */
export interface PythonClient {
    /** Runs Python. @returns its output @throws with its output if it fails */
    run(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Promise<string>;
}

/**
 * Installs a published package.
 * @param folder an empty folder for the environment
 * @param requirement its name and version
 * @returns undefined if no package index has it or can be reached
 */
export async function installPublished(folder: string, requirement: string): Promise<PythonClient | undefined> {
    await run(folder, PYTHON, ['-m', 'venv', join(folder, 'venv')]);
    const python = join(folder, 'venv/bin/python');
    const links = process.env['PIP_FIND_LINKS'];
    const env = links === undefined ? {} : { PIP_FIND_LINKS: links };
    try {
        await run(folder, python, ['-m', 'pip', 'install', '--retries', '1', '-q', requirement], { env });
    } catch (error) {
        if (String(error).includes('No matching distribution')) return undefined;
        throw error;
    }
    return { run: (args, options) => run(folder, python, args, options) };
}

/**
 * Builds the Python client as a wheel and installs it in an environment without other packages.
 * @param folder an empty folder for the wheel and the environment
 */
export async function installPythonClient(folder: string): Promise<PythonClient> {
    const source = join(folder, 'source');
    await run(folder, 'cp', ['-r', CLIENT, source]);
    await run(folder, PYTHON, ['-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--no-index', '-q', '-w', folder, source]);
    const [wheel = ''] = readdirSync(folder).filter((file) => file.endsWith('.whl'));
    expect(wheel).to.match(/^routebook-[\d.]+-py3-none-any\.whl$/);
    await run(folder, PYTHON, ['-m', 'venv', join(folder, 'venv')]);
    const python = join(folder, 'venv/bin/python');
    await run(folder, python, ['-m', 'pip', 'install', '--no-index', '-q', join(folder, wheel)]);
    return { run: (args, options) => run(folder, python, args, options) };
}

function run(
    home: string,
    program: string,
    args: readonly string[],
    { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<string> {
    return new Promise((resolve, reject) => {
        const options = { env: { PATH: process.env['PATH'], HOME: home, ...env }, maxBuffer: 64e6 };
        const child = execFile(program, args, options, (error, stdout, stderr) => {
            if (error === null) resolve(stdout);
            else reject(new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`));
        });
        child.stdin?.on('error', () => {}).end(input);
    });
}
