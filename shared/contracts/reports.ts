import Joi from 'joi';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface ReportOrder {
    endpoint?: string;
    kind: string;
    text: string;
}

export interface Report extends ReportCreated {
    text: string;
}

export interface ReportCreated {
    report_id: string;
    site: string;
    version: number;
    endpoint: string | null;
    kind: string;
    created_at: string;
}

const kind = () =>
    Joi.string()
        .pattern(/^[a-z][a-z_]{0,39}$/, 'a word of at most 40 letters in lower case, with _ between its parts')
        .description('broken, wrong_result, outdated, or another word, in lower case with _ between parts');

const shown = () => ({
    report_id: v.id('rep'),
    site: v.siteName(),
    version: v.versionNumber().description('The latest version, which the report concerns'),
    endpoint: Joi.string().allow(null),
    kind: kind(),
    created_at: v.time(),
});

export const postReport = contract('postReport', 'POST /v1/schemas/{site}/reports', {
    tag: 'Registry',
    summary: 'Report a problem to the maintainers',
    description:
        'Emails the maintainers, who can read the report in the dashboard for 90 days. They do not see who wrote it. 30 reports an hour per account.',
    scope: 'none',
    body: {
        schema: Joi.object<ReportOrder, true>({
            endpoint: Joi.string().min(1).max(1024).description('An endpoint of the latest version; absent: the report concerns the site'),
            kind: kind().required(),
            text: v
                .publicText(1, 1000, { lines: true })
                .required()
                .description('What you did, what you expected and what happened; no secrets'),
        }),
        guard: 'lines',
    },
    answer: { status: 201, schema: () => v.complete<ReportCreated>(shown()) },
    refusals: ['SITE_NOT_FOUND', 'ENDPOINT_NOT_FOUND'],
});

export const getReports = contract('getReports', 'GET /v1/schemas/{site}/reports', {
    tag: 'Registry',
    summary: 'List reported problems',
    description: 'Only for maintainers. Newest first, of the last 90 days. Authors are not shown.',
    scope: 'maintain',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.objects<Report>({ ...shown(), text: Joi.string() }) },
    refusals: ['NOT_MAINTAINER', 'SITE_NOT_FOUND'],
});
