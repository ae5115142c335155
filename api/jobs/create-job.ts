import type { JobRequest } from '../../shared/contracts/jobs.ts';
import { EXPIRY } from '../../shared/domain/jobs/bounds.ts';
import { admitFresh } from '../../shared/fetch/admit.ts';
import { insufficientCredits } from '../../shared/fetch/hold.ts';
import { newJobOf } from '../../shared/fetch/new-job.ts';
import { presentJob, readerOf } from '../../shared/fetch/present-job.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findJob } from '../../shared/store/jobs/jobs.ts';
import { addJob, type NewJob } from '../../shared/store/jobs/orders.ts';
import { orderInTurn } from '../admission/writes.ts';
import { keepReply, type OnceRules } from '../answers/idempotency.ts';
import { type Call, type Reply, sessionOf } from '../call.ts';
import { mustFit, mustFitToday } from './must-fit.ts';
import { mustSee } from './must-see.ts';

type JobCall = Call<object, object, JobRequest>;

/** Only keys that may see the job get a replay. */
export const JOB_ONCE: OnceRules<JobRequest> = {
    mayReplay: ({ app, caller }, kept) => mustSee(caller, kept, (reader, id) => findJob(app.db, reader, id)),
};

/**
 * POST /v1/jobs: checks the rate limit and everything that a fetch checks, then stores the job in one transaction. It also stores the
 * answer if the call has an Idempotency-Key, so that a retry never creates a second job.
 */
export async function createJob(call: JobCall): Promise<Reply<never>> {
    const { app, body, caller } = call;
    const { metadata = {}, expires_in: expiresIn = EXPIRY.fallback, ...asked } = body;
    const admitted = await admitFresh(app, { caller, body: asked, isLater: true });
    if (!admitted.ok) throw admitted.refusal;
    const { price } = admitted;
    const available = (await app.credits.balance(caller.accountId))?.available ?? 0;
    if (available < price.unit) throw insufficientCredits(app, caller, price.unit, available);

    const job: NewJob = {
        ...(await newJobOf(app, { caller, asked, metadata: JSON.stringify(metadata) }, admitted)),
        sessionId: sessionOf(call) ?? null,
    };
    const headers = { location: `/v1/jobs/${job.jobId}` };
    const order = async (trx: Db): Promise<Reply<never>> => {
        await addJob(trx, job, expiresIn);
        await mustFit(trx, caller);
        await mustFitToday(trx, caller, { items: 1, bytes: job.request.length + job.metadata.length });
        const row = await findJob(trx, readerOf(caller), job.jobId);
        if (row === undefined) throw new Error('a job that was just stored is not there');
        const text = `{"success":true,"data":${await presentJob(app, row, { result: true })}}`;
        return keepReply(call, trx, { status: 202, headers, text });
    };
    return orderInTurn(call, () => app.db.transaction(order));
}
