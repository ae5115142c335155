import type { Job } from '../../../shared/contracts/jobs.ts';
import { hasJobEnded, JOB_STATUSES } from '../../../shared/domain/jobs/states.ts';
import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { jobCommands } from '../first-call.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';
import { change, dateOf, pagerOf, parseChoice, read, readList, refusalOf } from '../read-api.ts';

const PATH = '/dashboard/jobs';
export const ROWS = '12';
/** Maximum number of characters that a page shows of params and of a result. */
const SHOWN = 100_000;

/** GET /dashboard/jobs: all jobs, newest first. */
export async function listJobs(visit: WorkspaceVisit): Promise<Shown> {
    const { query } = visit;
    const status = parseChoice(JOB_STATUSES, query('status'));
    const asked = (query('site') ?? '').trim();
    const site = asked === '' ? undefined : normaliseSite(asked);
    const cursor = query('cursor');
    const list =
        site?.ok === false
            ? { items: [], total: 0, next: null }
            : await readList<Job>(visit, '/v1/jobs', { status, site: site?.site, cursor, limit: ROWS });
    return {
        view: 'jobs/list',
        title: 'Jobs',
        model: {
            jobs: list.items.map(forView),
            total: list.total,
            typed: { status: status ?? '', site: asked },
            statuses: statusChoices(),
            commands: list.items.length === 0 ? await jobCommands(visit.app) : '',
            problem: site?.ok === false ? 'This is not the domain name of a site.' : undefined,
            isNarrowed: status !== undefined || asked !== '',
            ...pagerOf(PATH, { status, site: asked }, { cursor, next: list.next }),
        },
    };
}

/** GET /dashboard/jobs/{job_id}. @param refused the API's error if a form had no effect */
export async function showJob(visit: WorkspaceVisit, refused?: ErrorBody): Promise<Shown> {
    const { body, isCut } = await read(visit, `/v1/jobs/${encodeURIComponent(visit.params['job_id'] ?? '')}`);
    const job = body['data'] as Job;
    const { params, result } = job;
    const written = result == null ? undefined : writeJson((result as JsonObject)['data'] ?? null, SHOWN, { indent: 2 });
    return {
        view: 'jobs/one',
        title: 'Job',
        status: refused === undefined ? 200 : 409,
        model: {
            job: forView(job),
            params: params == null ? undefined : writeJson(params, SHOWN, { indent: 2 }).text,
            result: written?.text,
            isCut: isCut || written?.isWhole === false,
            hasEnded: hasJobEnded(job.status),
            problem: refused?.message,
        },
    };
}

/** Cancels the job of the path, or deletes its result. */
export async function remove(visit: WorkspaceVisit, what: '' | '/result', notice: Notice): Promise<Answer> {
    const id = encodeURIComponent(visit.params['job_id'] ?? '');
    return change(visit, { method: 'DELETE', path: `/v1/jobs/${id}${what}` }, { to: `${PATH}/${id}`, notice }, (refused) => {
        if (refused.code === 'JOB_NOT_CANCELLABLE') return showJob(visit, refused);
        throw refusalOf(refused);
    });
}

export function forView(job: Job) {
    return {
        ...job,
        code: job.error?.code,
        why: job.error?.message,
        createdAt: new Date(job.created_at),
        startedAt: dateOf(job.started_at),
        finishedAt: dateOf(job.finished_at),
        expiresAt: new Date(job.expires_at),
        nextAttemptAt: dateOf(job.next_attempt_at),
    };
}

export function statusChoices(): { value: string; label: string }[] {
    return [{ value: '', label: 'all' }, ...JOB_STATUSES.map((value) => ({ value, label: value }))];
}
