import { ask } from './servers.ts';

/** A statement as pg_stat_statements reports it. Times are in milliseconds. */
interface Statement {
    query: string;
    /** False if a function ran it; its time is part of the statement that called the function. */
    isTop: boolean;
    calls: number;
    meanMs: number;
    totalMs: number;
    /** Functions that JIT compiled for it. */
    compiled: number;
    jitMs: number;
    rows: number;
}

/** Counts the statements of a server from now on. It must have been started with pg_stat_statements. */
export async function countStatements(url: string): Promise<void> {
    await track(url, 'all');
    await countFromNow(url);
}

/** Resets the counts. A warm-up does so before anything was counted. */
export async function countFromNow(url: string): Promise<void> {
    await ask(url, 'create extension if not exists pg_stat_statements');
    await ask(url, 'select pg_stat_statements_reset()');
}

/** The statements since then, the longest first. Ends counting. */
export async function statementsSince(url: string): Promise<Statement[]> {
    await track(url, 'none');
    return ask<Statement>(
        url,
        `select regexp_replace(query, '\\s+', ' ', 'g') as query, toplevel as "isTop", calls::float8, mean_exec_time as "meanMs",
                total_exec_time as "totalMs", jit_functions::float8 as compiled,
                jit_generation_time + jit_inlining_time + jit_optimization_time + jit_emission_time as "jitMs", rows::float8
         from pg_stat_statements where query !~ 'pg_stat_statements|alter system|pg_reload_conf' order by total_exec_time desc`,
    );
}

/** Sets what is counted. Nested statements count too. This costs time, so it is only used if no times are compared. */
async function track(url: string, what: 'all' | 'none'): Promise<void> {
    await ask(url, `alter system set pg_stat_statements.track = '${what}'`);
    await ask(url, 'select pg_reload_conf()');
}

/** The most lines that are shown. */
const SHOWN = 30;

/** Formats a table. @param fetches the number of fetches served meanwhile */
export function formatStatements(statements: readonly Statement[], fetches: number): string {
    const head = ['calls a fetch', 'mean ms', 'ms a fetch', 'JIT functions', 'JIT ms', 'rows', 'statement'];
    const lines = statements
        .slice(0, SHOWN)
        .map(({ query, isTop, calls, meanMs, totalMs, compiled, jitMs, rows }) => [
            (calls / fetches).toFixed(3),
            meanMs.toFixed(3),
            (totalMs / fetches).toFixed(3),
            String(compiled),
            jitMs.toFixed(1),
            (rows / Math.max(1, calls)).toFixed(1),
            `${isTop ? '' : '  in a function: '}${query.slice(0, 160)}`,
        ]);
    return [head, ...lines].map((cells) => cells.map((cell, place) => (place < 6 ? cell.padStart(13) : cell)).join('  ')).join('\n');
}
