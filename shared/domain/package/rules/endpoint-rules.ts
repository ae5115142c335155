import { jsonProblem } from '../../json/json-bounds.ts';
import { defaultBodyFormat, defaultEffect } from '../endpoint.ts';
import { checkBody } from './body.ts';
import type { Budget } from './budget.ts';
import { checkHeaders } from './headers.ts';
import { checkBilling, checkEffect, checkPagination } from './paging.ts';
import { checkParams, checkPlaceholders } from './params.ts';
import { checkPrepare } from './prepare.ts';
import { type Path, quoted, type Report } from './report.ts';
import { checkResponse } from './response.ts';
import type { EndpointDraft } from './structure.ts';
import type { Subject } from './subject.ts';
import { reportSecret } from './tree.ts';
import { checkUrlTemplate, type UrlContext } from './urls.ts';
import { checkValue } from './values.ts';

/** All rules of an endpoint. Each adds the problems that it finds. No rule relies on the success of another. */
const RULES: readonly ((subject: Subject) => void)[] = [
    checkEndpointUrl,
    checkPrepare,
    checkPlaceholders,
    checkParams,
    checkHeaders,
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
    if (draft.url !== undefined) checkUrlTemplate(draft.url, [...at, 'url'], report, urls, { placeholders: true });
}

/** An example must be a valid call: known params only, all of them valid, and all required params present. */
function checkExamples({ draft, at, report, params, slots, budget }: Subject): void {
    const names = new Set(params.map((param) => param.draft.name));
    for (const [index, example] of (draft.examples ?? []).entries()) {
        if (example?.params === undefined) continue;
        const place = [...at, 'examples', index, 'params'];
        const unfit = jsonProblem(example.params);
        if (unfit !== undefined) report.add(place, unfit.code, `A call with these params would be refused. ${unfit.message}`);
        for (const [name, value] of Object.entries(example.params)) {
            const slot = slots.get(name);
            if (!names.has(name)) report.add([...place, name], 'UNKNOWN_FIELD', `The endpoint has no param ${quoted(name)}.`);
            if (slot !== undefined) checkValue(value, slot, [...place, name], report, budget);
            if (typeof value === 'string') reportSecret([...place, name], 'This value', `${name}=${value.slice(0, 200)}`, report);
        }
        for (const { draft: param } of params) {
            if (param.name === undefined || param.required !== true || Object.hasOwn(param, 'default')) continue;
            if (!Object.hasOwn(example.params, param.name))
                report.add([...place, param.name], 'REQUIRED', `The example leaves out ${quoted(param.name)}, which is required.`);
        }
    }
}
