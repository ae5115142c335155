import { presentFields } from '../../shared/domain/text/snake-case.ts';
import { type TopDimension, topUsage } from '../../shared/store/usage/usage-report.ts';
import { type Done, table } from './command.ts';
import type { Operator } from './operator.ts';

export async function top({ db }: Operator, { by, days, limit }: { by: TopDimension; days: number; limit: number }): Promise<Done> {
    const rows = await topUsage(db, { by, days, limit });
    const named = ({ name }: (typeof rows)[number]) => (by === 'endpoint' ? { site: name[0], endpoint: name[1] } : { [by]: name[0] });
    const rate = ({ calls, successes }: (typeof rows)[number]) => `${(Math.floor((successes / calls) * 1000) / 10).toFixed(1)} %`;
    return {
        result: rows.map((row) => ({
            ...(named(row) as Record<string, string>),
            ...presentFields(row, 'calls successes credits p50_ms p95_ms'),
        })),
        lines: table(
            [by, 'calls', 'succeeded', 'credits', 'p50 ms', 'p95 ms'],
            rows.map((row) => [row.name.join(' '), row.calls, rate(row), row.credits, row.p50Ms, row.p95Ms]),
        ),
    };
}
