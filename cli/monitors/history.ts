import { table } from '../../shared/platform/table.ts';
import type { MonitorChange } from '../client/index.ts';
import type { Done, Session } from '../session.ts';

/** `routebook monitor changes ID`: prints a line for each added (+), removed (-) or changed (~) value. */
export async function listChanges(
    { client, terminal: { paint } }: Session,
    monitorId: string,
    { limit }: { limit: number },
): Promise<Done> {
    const { items: changes } = await client().monitors.changes(monitorId, { limit }).page();
    const result = { changes };
    if (changes.length === 0) return { result, lines: ['No changes yet.'] };
    const lines = changes.flatMap(({ change_id: id, at, diff, diff_truncated: isCut }) => [
        `${paint('bold', at)}  ${paint('dim', id)}`,
        ...linesOf(diff, paint),
        ...(isCut ? ['  … the diff was longer and was cut'] : []),
    ]);
    return { result, lines };
}

function linesOf({ added, removed, changed }: MonitorChange['diff'], paint: Session['terminal']['paint']): string[] {
    return [
        ...added.map((value) => paint('green', `  + ${JSON.stringify(value)}`)),
        ...removed.map((value) => paint('red', `  - ${JSON.stringify(value)}`)),
        ...changed.map(
            ({ path, before, after }) => `  ~ ${path === '' ? '(all)' : path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
        ),
    ];
}

export async function listRuns({ client, terminal }: Session, monitorId: string, { limit }: { limit: number }): Promise<Done> {
    const { items: runs } = await client().monitors.runs(monitorId, { limit }).page();
    const result = { runs };
    if (runs.length === 0) return { result, lines: ['No runs yet.'] };
    const rows = runs.map((one) => [
        one.run_id,
        one.skipped_reason === null ? one.status : `${one.status} (${one.skipped_reason})`,
        one.changed === null ? null : one.changed ? 'yes' : 'no',
        one.error?.code ?? null,
        one.started_at,
        one.credits_used,
    ]);
    return { result, lines: table(['run', 'status', 'changed', 'code', 'began', 'credits'], rows, terminal) };
}
