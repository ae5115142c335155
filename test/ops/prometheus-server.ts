import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const RULES = fileURLToPath(new URL('../../ops/prometheus/rules.yml', import.meta.url));

/** It replays its write-ahead log before it answers. */
const READY_MS = 30_000;

/** The result of a query: one entry for each series. */
type Series = { metric: Record<string, string>; value: number }[];

export interface Prometheus {
    /** An instant query. @throws with Prometheus' own error message */
    query(expression: string): Promise<Series>;
    close(): Promise<void>;
}

/** The operating system's Prometheus, with our rules, scraping these local ports every 500 ms. */
export async function startPrometheus(targets: Readonly<Record<string, readonly number[]>>): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-prometheus-'));
    const jobs = Object.entries(targets).map(([job_name, ports]) => ({
        job_name,
        static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }],
    }));
    const settings = { global: { scrape_interval: '500ms', evaluation_interval: '500ms' }, rule_files: [RULES], scrape_configs: jobs };
    // JSON is YAML too.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings));
    const port = await freePort();
    const flags = [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
    ];
    const server = spawn('prometheus', flags, { stdio: 'ignore' });
    const isReady = () =>
        fetch(`http://127.0.0.1:${port}/-/ready`).then(
            ({ ok }) => ok,
            () => false,
        );
    await eventually(isReady, (ready) => ready, READY_MS);
    return {
        async query(expression) {
            const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query: expression })}`);
            const body = (await response.json()) as {
                status: string;
                error?: string;
                data?: { resultType: string; result: { metric: Record<string, string>; value: [number, string] }[] };
            };
            if (body.status !== 'success') throw new Error(`${expression}: ${body.error}`);
            if (body.data?.resultType !== 'vector') return [];
            return body.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
        },
        async close() {
            if (server.exitCode === null) {
                const gone = once(server, 'exit');
                server.kill('SIGKILL');
                await gone;
            }
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Runs promtool. @throws with its output if it finds a fault */
export async function promtool(args: readonly string[], input?: string): Promise<string> {
    const running = promisify(execFile)('promtool', [...args]);
    running.child.stdin?.end(input ?? '');
    const { stdout, stderr } = await running;
    return stdout + stderr;
}
