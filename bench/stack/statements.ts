import { ask } from './servers.ts';

/** A statement as pg_stat_statements saw it; times are milliseconds. */
export interface Statement {
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

/** Counts what runs on a server from now on; it must have been started with pg_stat_statements. */
export async function countStatements(url: string): Promise<void> {
    await ask(url, 'create extension if not exists pg_stat_statements');
    await track(url, 'all');
    await countFromNow(url);
}

/** Forgets what ran so far, such as warm-up. */
export async function countFromNow(url: string): Promise<void> {
    await ask(url, 'select pg_stat_statements_reset()');
}

/** What ran since, the longest first. Counting ends. */
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

/** Nested statements are counted as well, which costs time: only where nothing else is compared. */
async function track(url: string, what: 'all' | 'none'): Promise<void> {
    await ask(url, `alter system set pg_stat_statements.track = '${what}'`);
    await ask(url, 'select pg_reload_conf()');
}

/** How many lines of them are worth reading. */
const SHOWN = 30;

/** A table for people. @param fetches that were served meanwhile */
export function tellStatements(statements: readonly Statement[], fetches: number): string {
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
