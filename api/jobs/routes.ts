import * as batch from '../../shared/contracts/batches.ts';
import { deleteJob, deleteJobResult as deleteJobResultContract, getJob, getJobs, postJob } from '../../shared/contracts/jobs.ts';
import { serve } from '../serve.ts';
import { cancelBatch, pauseBatch, resumeBatch, retryBatch } from './batches/change-batch.ts';
import { BATCH_ONCE, createBatch } from './batches/create-batch.ts';
import { listBatches, readBatch, readResults } from './batches/read-batches.ts';
import { createJob, JOB_ONCE } from './create-job.ts';
import { cancelJob, deleteJobResult, listJobs, readJob } from './read-jobs.ts';

export const jobRoutes = [
    serve(postJob, createJob, JOB_ONCE),
    serve(getJobs, listJobs),
    serve(getJob, readJob),
    serve(deleteJob, cancelJob),
    serve(deleteJobResultContract, deleteJobResult),
    serve(batch.postBatch, createBatch, BATCH_ONCE),
    serve(batch.getBatches, listBatches),
    serve(batch.getBatch, readBatch),
    serve(batch.getBatchResults, readResults),
    serve(batch.postBatchPause, pauseBatch),
    serve(batch.postBatchResume, resumeBatch),
    serve(batch.postBatchRetry, retryBatch),
    serve(batch.deleteBatch, cancelBatch),
];
