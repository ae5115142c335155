import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import { CommandFault } from './failures.ts';
import { cancelled } from './session.ts';
import type { Terminal } from './terminal.ts';

/** Writes a file and its parent folders. @param replaces an existing one too @throws CommandFault FILE_EXISTS, FILE_UNWRITABLE */
export async function writeText(file: string, text: string, { replaces }: { replaces: boolean }): Promise<void> {
    try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text, { flag: replaces ? 'w' : 'wx' });
    } catch (error) {
        throw !replaces && existsSync(file) ? fileExists(file) : unwritable(file, error);
    }
}

export function unwritable(file: string, error: unknown): CommandFault {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return new CommandFault('FILE_UNWRITABLE', `${file} cannot be written (${code}).`);
}

/** Asks before a file is replaced. A script cannot answer, so it needs `--force`. @throws CommandFault FILE_EXISTS or CANCELLED */
export async function askToReplace({ isInteractive }: Terminal, file: string): Promise<void> {
    if (!existsSync(file)) return;
    if (!isInteractive) throw fileExists(file);
    const answer = await confirm({ output: process.stderr, message: `Replace ${file}?`, initialValue: false });
    if (isCancel(answer) || !answer) throw cancelled();
}

export function fileExists(file: string): CommandFault {
    return new CommandFault('FILE_EXISTS', `${file} already exists; use --force to replace it or --out for another file.`);
}
