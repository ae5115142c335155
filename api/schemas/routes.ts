import { getSchemas } from '../../shared/contracts/lists.ts';
import { deleteMaintainer, getMaintainers, putMaintainer } from '../../shared/contracts/maintainers.ts';
import { getReports, postReport } from '../../shared/contracts/reports.ts';
import { getPackage, getSchema, postSchema } from '../../shared/contracts/schemas.ts';
import { deleteYank, getVersions, postYank } from '../../shared/contracts/versions.ts';
import { audited } from '../admission/count-in-window.ts';
import { serve, serveWithETag } from '../serve.ts';
import { downloadPackage } from './download-package.ts';
import { listReports } from './list-reports.ts';
import { listSchemas } from './list-schemas.ts';
import { listVersions } from './list-versions.ts';
import { addMaintainer, listMaintainers, removeMaintainer } from './maintain-site.ts';
import { publishSchema } from './publish-schema.ts';
import { readCard } from './read-card.ts';
import { reportProblem } from './report-problem.ts';
import { yankVersion } from './yank-version.ts';

export const schemaRoutes = [
    serve(postSchema, publishSchema),
    serve(getSchemas, listSchemas),
    serve(getSchema, async (call) => ({ answer: await readCard(call) })),
    serve(getVersions, listVersions),
    serve(postYank, audited(yankVersion)),
    serve(deleteYank, audited(yankVersion)),
    serve(getMaintainers, listMaintainers),
    serve(putMaintainer, audited(addMaintainer)),
    serve(deleteMaintainer, audited(removeMaintainer)),
    serveWithETag(getPackage, downloadPackage),
    serve(postReport, reportProblem),
    serve(getReports, listReports),
];
