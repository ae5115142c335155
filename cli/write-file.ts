import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import { CommandFault } from './failures.ts';
import { cancelled } from './session.ts';
import type { Terminal } from './terminal.ts';

/** Writes a file, and the folders that lead to it. @param replaces whether a file that is there may go @throws CommandFault FILE_EXISTS, FILE_UNWRITABLE */
export async function writeText(file: string, text: string, { replaces }: { replaces: boolean }): Promise<void> {
    try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text, { flag: replaces ? 'w' : 'wx' });
    } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
        if (!replaces && existsSync(file))
            throw new CommandFault('FILE_EXISTS', `${file} exists already; --force replaces it, --out names another.`);
        throw new CommandFault('FILE_UNWRITABLE', `${file} cannot be written (${code}).`);
    }
}

/** Asks a person before a file is replaced. A script is not asked: it names the file that it wants. @throws CommandFault where they say no */
export async function askToReplace({ isInteractive }: Terminal, file: string): Promise<void> {
    if (!isInteractive || !existsSync(file)) return;
    const answer = await confirm({ output: process.stderr, message: `Replace ${file}?`, initialValue: false });
    if (isCancel(answer) || !answer) throw cancelled();
}
