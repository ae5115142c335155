import { presentFields } from '../../shared/domain/text/snake-case.ts';
import { type CallPlace, type LoggedCall, listCalls } from '../../shared/store/usage/call-log.ts';
import { type TopDimension, topUsage } from '../../shared/store/usage/usage-report.ts';
import { type Done, table } from './command.ts';
import { type Operator, workspaceOrFault } from './operator.ts';

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

interface CallOptions {
    workspace: string;
    request?: string;
    site?: string;
    outcome?: string;
    limit: number;
}

/** `usage calls`: the calls of a workspace, newest first, with the outcome of each. */
export async function calls({ db }: Operator, { workspace, request, site, outcome, limit }: CallOptions): Promise<Done> {
    await workspaceOrFault(db, workspace);
    const all = { userId: undefined, endpoint: undefined, keyId: undefined, operation: undefined, from: undefined, until: undefined };
    const filter = { ...all, workspaceId: workspace, site, outcome, requestId: request };
    const found: LoggedCall[] = [];
    // A page ends after some thousand rows, even if few of them match.
    let before: CallPlace | undefined;
    do {
        const page = await listCalls(db, filter, { limit: limit - found.length, before });
        found.push(...page.calls);
        before = page.next;
    } while (before !== undefined && found.length < limit);
    return {
        result: found.map((call) => presentFields(call, CALL)),
        lines: table(
            ['at', 'outcome', 'site', 'endpoint', 'credits', 'ms', 'waited', 'site status', 'site ms', 'key', 'request'],
            found.map((call) => [
                ...[call.at.toISOString(), call.outcome, call.site, call.endpoint, call.credits, call.durationMs, call.queueMs],
                ...[call.upstreamStatus, call.upstreamMs, call.keyId, call.requestId],
            ]),
        ),
    };
}

const CALL =
    'at request_id kind site endpoint version key_id outcome credits results cached duration_ms queue_ms upstream_status upstream_ms';
