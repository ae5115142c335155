import { defaultBodyFormat, defaultEffect } from '../endpoint.ts';
import type { BodyFormat, Effect } from '../types.ts';
import { checkBody } from './body.ts';
import type { Budget } from './budget.ts';
import { checkExamples } from './examples.ts';
import { checkHeaders } from './headers.ts';
import { checkBilling, checkEffect, checkPagination } from './paging.ts';
import { checkParams, checkPlaceholders } from './params.ts';
import type { Path, Report } from './report.ts';
import { checkResponse } from './response.ts';
import type { EndpointDraft, ParamDraft } from './structure.ts';
import { checkUrl, placeholdersOf, type UrlContext } from './urls.ts';
import type { Slot } from './values.ts';

/** One endpoint under judgement: its draft, where it stands, and what several rules need to know of it. */
export interface Subject {
    draft: EndpointDraft;
    at: Path;
    report: Report;
    urls: UrlContext;
    budget: Budget;
    /** The params that could be read, each with its index. */
    params: readonly { draft: ParamDraft; at: Path }[];
    /** What a value of each param is held against, by name; made by the rule of params, used by that of examples. */
    slots: Map<string, Slot>;
    /** `undefined` where the method could not be read. */
    effect: Effect | undefined;
    bodyFormat: BodyFormat;
    /** Whether anything stands in a body: body params or a template. */
    sendsBody: boolean;
}

/** Every rule of an endpoint; each adds what it finds, and none relies on another having found nothing. */
const RULES: readonly ((subject: Subject) => void)[] = [
    checkUrls,
    checkPlaceholders,
    checkParams,
    (subject) => {
        const body = subject.sendsBody ? subject.bodyFormat : undefined;
        checkHeaders(subject.draft.headers ?? {}, [...subject.at, 'headers'], subject.report, body);
    },
    checkBody,
    checkEffect,
    checkPagination,
    checkBilling,
    checkResponse,
    checkExamples,
];

/** Reports everything that is wrong with one endpoint beyond the types of its fields. */
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

function checkUrls({ draft, at, report, urls }: Subject): void {
    if (draft.url !== undefined) checkUrl(draft.url, [...at, 'url'], report, urls, { placeholders: true });
    const { prepare } = draft;
    if (prepare?.url !== undefined) checkUrl(prepare.url, [...at, 'prepare', 'url'], report, urls, { placeholders: false });
    if (prepare?.form !== undefined && draft.url !== undefined && placeholdersOf(draft.url).length > 0) {
        report.add(
            [...at, 'url'],
            'INVALID_VALUE',
            'With prepare.form the action of the form replaces the url, so it has no placeholders.',
        );
    }
    if (prepare?.form !== undefined && draft.method !== undefined && draft.method !== 'GET' && draft.method !== 'POST')
        report.add([...at, 'method'], 'INVALID_VALUE', `No form is sent by ${draft.method}: with prepare.form use GET or POST.`);
}
