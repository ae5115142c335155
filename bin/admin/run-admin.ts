import { Command, CommanderError, Option } from 'commander';
import { isNotMigrated } from '../../shared/health/is-up.ts';
import { usageExit } from '../../shared/platform/command-line.ts';
import { codeOfError } from '../../shared/platform/error-code.ts';
import { ConfigFault } from '../../shared/platform/settings-reader.ts';
import { type Page, table } from '../../shared/platform/table.ts';
import type { AdminCommand, Table } from './command.ts';
import { COMMANDS, GROUPS } from './commands.ts';
import { AdminFault, type Env, openOperator } from './operator.ts';

interface Terminal extends Pick<Page, 'tableWidth'> {
    print(line: string): void;
    /** Prints a line to stderr. */
    printError(line: string): void;
}

/**
 * Runs one operator's command (docs/operations.md). With `--json` the last line of stdout is the result, or
 * `{"error":{code,message}}`; everything else goes to stderr.
 * @param env the settings; those of this process by default
 * @returns the exit code: 0, 1 for a failure, 2 for wrong usage
 */
export async function runAdmin(args: readonly string[], terminal: Terminal, env?: Env): Promise<number> {
    const isJson = args.includes('--json');
    const page: Page = { paint: (_, text) => text, tableWidth: terminal.tableWidth };
    let exitCode = 0;
    const program = new Command('admin')
        .description("The operator's tool of Routebook.")
        .option('--json', 'print the result as one line of JSON')
        .exitOverride()
        .showHelpAfterError('(--help shows how)')
        .configureOutput({
            writeOut: (text) => terminal.print(text.trimEnd()),
            writeErr: (text) => terminal.printError(text.trimEnd()),
        });
    const run = async ({ name, work }: AdminCommand, given: unknown[]) => {
        const operator = await openOperator(name, isJson, env);
        try {
            const { result, lines, note, isFailure } = await work(operator, ...(given as never[]));
            if (note !== undefined) terminal.printError(note);
            if (isJson) terminal.print(JSON.stringify(result));
            else for (const line of lines.flatMap((part) => (typeof part === 'string' ? part : layOut(part, page)))) terminal.print(line);
            if (isFailure === true) exitCode = 1;
        } catch (error) {
            if (!(await isNotMigrated(operator.db, error))) throw error;
            throw new AdminFault('SERVICE_UNAVAILABLE', 'the database is not up to date: run npm run migrate');
        } finally {
            await operator.db.destroy();
        }
    };
    for (const [group, about] of Object.entries(GROUPS)) {
        const below = program.command(group).description(about);
        for (const entry of COMMANDS.filter(({ name }) => name.startsWith(`${group} `))) add(below, entry, run);
    }
    try {
        await program.parseAsync(args, { from: 'user' });
        return exitCode;
    } catch (error) {
        if (error instanceof CommanderError) return usageExit(error, isJson, terminal);
        const { code, message } = toFault(error);
        terminal.printError(`admin: ${message}`);
        if (isJson) terminal.print(JSON.stringify({ error: { code, message } }));
        return 1;
    }
}

/** On a terminal, an empty table ends with `none`. */
function layOut({ heads, rows }: Table, page: Page): string[] {
    return [...table(heads, rows, page), ...(rows.length === 0 && Number.isFinite(page.tableWidth) ? ['none'] : [])];
}

function add(group: Command, entry: AdminCommand, run: (entry: AdminCommand, given: unknown[]) => Promise<void>): void {
    const command = group.command(entry.name.split(' ')[1] ?? '').description(entry.about ?? '');
    for (const part of entry.takes) part instanceof Option ? command.addOption(part) : command.addArgument(part);
    // Commander passes the arguments in order, then the options, then the command.
    command.action((...given: unknown[]) => {
        const options = given.at(-2) as never;
        const problem = entry.problemOf?.(options);
        if (problem !== undefined) command.error(`error: ${problem}`);
        return run(entry, given.slice(0, -1));
    });
}

function toFault(error: unknown): { code: string; message: string } {
    if (error instanceof AdminFault) return error;
    if (error instanceof ConfigFault) return { code: 'VALIDATION_ERROR', message: error.lines.join('; ') };
    const sqlState = codeOfError(error);
    if (/^(E[A-Z]+|57P0\d|08\d{3}|28\w{3}|3D000)$/.test(sqlState) || isConnectFault(error)) {
        return { code: 'SERVICE_UNAVAILABLE', message: `the database cannot be reached (${sqlState || 'time-out'}): check DATABASE_URL` };
    }
    return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
}

function isConnectFault(error: unknown): boolean {
    return error instanceof Error && (error.name === 'KnexTimeoutError' || /timeout expired|Connection terminated/i.test(error.message));
}
