import { type TopDimension, topUsage } from '../../shared/store/usage/usage-report.ts';
import { type Done, table } from './command.ts';
import type { Operator } from './operator.ts';

export async function top({ db }: Operator, { by, days, limit }: { by: TopDimension; days: number; limit: number }): Promise<Done> {
    const rows = await topUsage(db, { by, days, limit });
    const named = ({ name }: (typeof rows)[number]) => (by === 'endpoint' ? { site: name[0], endpoint: name[1] } : { [by]: name[0] });
    const rate = (calls: number, successes: number) => `${(Math.floor((successes / calls) * 1000) / 10).toFixed(1)} %`;
    return {
        result: rows.map((row) => ({
            ...(named(row) as Record<string, string>),
            calls: row.calls,
            successes: row.successes,
            credits: row.credits,
            p50_ms: row.p50Ms,
            p95_ms: row.p95Ms,
        })),
        lines: table(
            [by, 'calls', 'succeeded', 'credits', 'p50 ms', 'p95 ms'],
            rows.map(({ name, calls, successes, credits, p50Ms, p95Ms }) => [
                name.join(' '),
                calls,
                rate(calls, successes),
                credits,
                p50Ms,
                p95Ms,
            ]),
        ),
    };
}
