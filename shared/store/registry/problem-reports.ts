import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import { clip } from '../../domain/text/clip.ts';
import { withoutReordering } from '../../domain/text/text-rule.ts';
import { type Columns, columns, type Db } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';

/** A caller's report that an endpoint does not do what its schema describes. */
interface ProblemReport {
    id: string;
    site: string;
    /** The latest version at the time of the report. */
    version: number;
    /** Null: the report concerns the whole site. */
    endpoint: string | null;
    kind: string;
    text: string;
    createdAt: Date;
}

/** Maximum length of a report in the mail, in characters. The dashboard shows the full report. */
const MAILED = 300;

const REPORT: Columns<ProblemReport> = columns('', 'id site version endpoint kind text created_at');

/**
 * Stores a report and mails the owners of the workspaces that maintain the site, at most once an hour over all their domains: anybody may
 * add a workspace to domains that it does not know.
 */
export async function addReport(
    db: Db,
    report: Omit<ProblemReport, 'createdAt'> & { registrable: string; workspaceId: string },
): Promise<Date> {
    const { id, site, version, endpoint, kind, text, registrable, workspaceId } = report;
    return db.transaction(async (trx) => {
        const [row] = await trx('problem_reports')
            .insert({ id, site, version, endpoint, kind, text, workspace_id: workspaceId })
            .returning<{ created_at: Date }[]>('created_at');
        const maintainers: string[] = await trx('maintainers')
            .where({ registrable })
            .whereNot({ workspace_id: ROUTEBOOK_WORKSPACE })
            .pluck('workspace_id');
        // On one line and without quotation marks of its own, so that no part of it looks like words of our mail.
        const words = withoutReordering(text).replaceAll(/\s+/g, ' ').replaceAll('"', "'");
        const line = `A caller reported ${endpoint === null ? site : `${endpoint} of ${site}`}, version ${version} (${kind}): "${clip(words, MAILED)}"`;
        for (const maintainer of maintainers) {
            await notifyOwners(trx, {
                workspaceId: maintainer,
                domain: registrable,
                topic: 'reported',
                subject: `A problem with ${registrable} was reported`,
                line,
            });
        }
        return (row as { created_at: Date }).created_at;
    });
}

/** One page of the reports of a site, newest first, and their total number. */
export function reportsOf(db: Db, site: string, page: RowPage): Promise<FoundPage<ProblemReport>> {
    return readRowPage<ProblemReport>(db, db('problem_reports').where({ site }), REPORT, page);
}
