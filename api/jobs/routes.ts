import { deleteJob, deleteJobResult as deleteJobResultContract, getJob, getJobs, postJob } from '../../shared/contracts/jobs.ts';
import { serve } from '../serve.ts';
import { createJob } from './create-job.ts';
import { cancelJob, deleteJobResult, listJobs, readJob } from './read-jobs.ts';

export const jobRoutes = [
    serve(postJob, createJob),
    serve(getJobs, listJobs),
    serve(getJob, readJob),
    serve(deleteJob, cancelJob),
    serve(deleteJobResultContract, deleteJobResult),
];
