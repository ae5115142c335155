import { USERS, workspacePage } from '../page.ts';
import { actOnBatch, downloadCsv, downloadLines, listBatches, showBatch, showItems, showProgress } from './batches.ts';
import { listJobs, remove, showJob } from './jobs.ts';
import { orderByForm, showUpload, UPLOAD_BYTES } from './upload.ts';

const JOB = '/dashboard/jobs/{job_id}';
const BATCH = '/dashboard/jobs/batches/{batch_id}';
const SHOWN = { method: 'GET', audience: USERS } as const;
const FILE = { ...SHOWN, isPart: true } as const;
const FORM = { method: 'POST', audience: USERS } as const;

export const jobPages = [
    workspacePage({ ...SHOWN, path: '/dashboard/jobs', respond: listJobs }),
    workspacePage({ ...SHOWN, path: JOB, respond: (visit) => showJob(visit) }),
    workspacePage({ ...FORM, path: `${JOB}/cancel`, respond: (visit) => remove(visit, '', 'job-cancelled') }),
    workspacePage({ ...FORM, path: `${JOB}/delete-result`, respond: (visit) => remove(visit, '/result', 'job-result-deleted') }),
    workspacePage({ ...SHOWN, path: '/dashboard/jobs/batches', respond: listBatches }),
    workspacePage({ ...SHOWN, path: '/dashboard/jobs/batches/new', respond: showUpload }),
    workspacePage({ ...FORM, path: '/dashboard/jobs/batches/new', formBytes: UPLOAD_BYTES, respond: orderByForm }),
    workspacePage({ ...SHOWN, path: BATCH, respond: (visit) => showBatch(visit) }),
    workspacePage({ ...FILE, path: `${BATCH}/progress`, respond: showProgress }),
    workspacePage({ ...SHOWN, path: `${BATCH}/items`, respond: showItems }),
    workspacePage({ ...FILE, path: `${BATCH}/results.ndjson`, respond: downloadLines }),
    workspacePage({ ...FILE, path: `${BATCH}/results.csv`, respond: downloadCsv }),
    workspacePage({ ...FORM, path: `${BATCH}/pause`, respond: (visit) => actOnBatch(visit, 'pause') }),
    workspacePage({ ...FORM, path: `${BATCH}/resume`, respond: (visit) => actOnBatch(visit, 'resume') }),
    workspacePage({ ...FORM, path: `${BATCH}/retry`, respond: (visit) => actOnBatch(visit, 'retry') }),
    workspacePage({ ...FORM, path: `${BATCH}/cancel`, respond: (visit) => actOnBatch(visit, 'cancel') }),
];
