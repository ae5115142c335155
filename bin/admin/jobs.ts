import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findWorkspace } from '../../shared/store/accounts/workspaces.ts';
import { readBalance } from '../../shared/store/credits/accounts.ts';
import { findJobOfAnybody } from '../../shared/store/jobs/jobs.ts';
import { listPauses, type Paused, pauseJobs, resumeJobs } from '../../shared/store/jobs/pauses.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import { type Done, done, table } from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';
import type { SiteName } from './sites.ts';

interface Which {
    account?: string;
    site?: SiteName;
    reason?: string;
}

/** `jobs pause`: within a second, no new attempt of these jobs starts. Running attempts continue to their end. */
export async function pause(operator: Operator, which: Which): Promise<Done> {
    return change(operator, which, async (trx, paused) => {
        const { accountId } = paused;
        if (accountId !== null && (await readBalance(trx, accountId)) === undefined) {
            throw new AdminFault('NOT_FOUND', `There is no account ${accountId}.`);
        }
        if (which.site !== undefined && !(await findLatest(trx, which.site)).isKnown) {
            throw new AdminFault('SITE_NOT_FOUND', `No schema is published for ${which.site.site}.`);
        }
        await pauseJobs(trx, paused);
    });
}

/** `jobs resume`: ends the pause that was created with the same options. */
export async function resume(operator: Operator, which: Which): Promise<Done> {
    return change(operator, which, async (trx, paused) => {
        if (!(await resumeJobs(trx, paused)))
            throw new AdminFault(
                'NOT_FOUND',
                'There is no pause with exactly these options; jobs list shows all. On Free, the pause applies to the owner of the workspace.',
            );
    });
}

export async function list({ db }: Operator): Promise<Done> {
    return present(await pauses(db));
}

/** `jobs show`: the state of a job, why it waits and with which code it ended; never its params or result. */
export async function show({ db }: Operator, jobId: string): Promise<Done> {
    const job = await findJobOfAnybody(db, jobId);
    if (job === undefined) throw new AdminFault('JOB_NOT_FOUND', `There is no job ${jobId}; rows stay for 90 days after the end.`);
    return done({
        ...presentFields(job, 'job_id status waiting_for code attempts credits_used site endpoint version'),
        ...presentFields(job, 'workspace_id account_id key_id batch_id monitor_id'),
        ...presentFields(job, 'created_at started_at next_attempt_at finished_at expires_at'),
    });
}

async function change(
    operator: Operator,
    { account, site, reason }: Which,
    work: (trx: Db, paused: Paused) => Promise<void>,
): Promise<Done> {
    const result = await audited(
        operator,
        async (trx) => {
            // On Free the owner pays, so the pause applies to the owner's account.
            const accountId = account === undefined ? null : ((await findWorkspace(trx, account))?.accountId ?? account);
            const paused: Paused = { accountId, site: site?.site ?? null };
            const before = { paused: await pauses(trx) };
            await work(trx, paused);
            const after = { paused: await pauses(trx) };
            return { target: paused.accountId ?? paused.site ?? 'jobs', before, after, result: after.paused };
        },
        reason,
    );
    return present(result);
}

async function pauses(db: Db): Promise<JsonObject[]> {
    return (await listPauses(db)).map(({ accountId, site, since }) => ({ account: accountId, site, since }));
}

function present(result: JsonObject[]): Done {
    const cell = (value: unknown) => String(value ?? 'all');
    const rows = result.map(({ account, site, since }) => [cell(account), cell(site), String(since)]);
    return { result, lines: result.length === 0 ? ['No jobs are paused.'] : table(['account', 'site', 'since'], rows) };
}
