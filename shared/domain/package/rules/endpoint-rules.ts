import { defaultBodyFormat, defaultEffect } from '../endpoint.ts';
import { checkBody } from './body.ts';
import type { Budget } from './budget.ts';
import { checkExamples } from './examples.ts';
import { checkHeaders } from './headers.ts';
import { checkBilling, checkEffect, checkPagination } from './paging.ts';
import { checkParams, checkPlaceholders } from './params.ts';
import { checkPrepare, extractedBy } from './prepare.ts';
import type { Path, Report } from './report.ts';
import { checkResponse } from './response.ts';
import type { EndpointDraft } from './structure.ts';
import type { Subject } from './subject.ts';
import { checkUrl, type UrlContext } from './urls.ts';

/** All rules of an endpoint. Each adds the problems that it finds. No rule relies on the success of another. */
const RULES: readonly ((subject: Subject) => void)[] = [
    checkEndpointUrl,
    checkPrepare,
    checkPlaceholders,
    checkParams,
    (subject) => {
        const body = subject.sendsBody ? subject.bodyFormat : undefined;
        checkHeaders(subject.draft.headers ?? {}, [...subject.at, 'headers'], subject.report, {
            body,
            extracted: extractedBy(subject.draft),
        });
    },
    checkBody,
    checkEffect,
    checkPagination,
    checkBilling,
    checkResponse,
    checkExamples,
];

/** Reports all problems of one endpoint apart from the types of its fields. */
export function checkEndpoint(draft: EndpointDraft, at: Path, report: Report, urls: UrlContext, budget: Budget): void {
    const kind = draft.kind ?? 'api_call';
    const params = (draft.params ?? []).flatMap((param, index) =>
        param === undefined ? [] : [{ draft: param, at: [...at, 'params', index] }],
    );
    const subject: Subject = {
        draft,
        at,
        report,
        urls,
        budget,
        params,
        slots: new Map(),
        effect: draft.effect ?? (draft.method === undefined ? undefined : defaultEffect(kind, draft.method)),
        bodyFormat: draft.body_format ?? defaultBodyFormat(kind),
        sendsBody: draft.body !== undefined || params.some((param) => param.draft.source === 'body'),
    };
    for (const rule of RULES) rule(subject);
}

function checkEndpointUrl({ draft, at, report, urls }: Subject): void {
    if (draft.url !== undefined) checkUrl(draft.url, [...at, 'url'], report, urls, { placeholders: true });
}
