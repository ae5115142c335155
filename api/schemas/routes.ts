import { getSchemas } from '../../shared/contracts/lists.ts';
import { deleteMaintainer, getMaintainers, putMaintainer } from '../../shared/contracts/maintainers.ts';
import { getReports, postReport } from '../../shared/contracts/reports.ts';
import { getPackage, getSchema, postSchema } from '../../shared/contracts/schemas.ts';
import { deleteYank, getVersions, postYank } from '../../shared/contracts/versions.ts';
import { serve, serveWithETag } from '../serve.ts';
import { listSchemas, readCard } from './cards.ts';
import { downloadPackage } from './download-package.ts';
import { addMaintainer, listMaintainers, removeMaintainer } from './maintain-site.ts';
import { publishSchema } from './publish-schema.ts';
import { listReports, reportProblem } from './reports.ts';
import { listVersions, yankVersion } from './versions.ts';

export const schemaRoutes = [
    serve(postSchema, publishSchema),
    serve(getSchemas, listSchemas),
    serve(getSchema, async (call) => ({ answer: await readCard(call) })),
    serve(getVersions, listVersions),
    serve(postYank, yankVersion),
    serve(deleteYank, yankVersion),
    serve(getMaintainers, listMaintainers),
    serve(putMaintainer, addMaintainer),
    serve(deleteMaintainer, removeMaintainer),
    serveWithETag(getPackage, downloadPackage),
    serve(postReport, reportProblem),
    serve(getReports, listReports),
];
