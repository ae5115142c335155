import { placeholderIn } from '../../fetch/body-template.ts';
import { extractOf } from '../../fetch/prepared-values.ts';
import { isTextFormat, textPlaceholders } from '../../fetch/text-template.ts';
import { isObject } from '../../json/schema/structure.ts';
import type { Json } from '../../types.ts';
import { isSafeMethod } from '../endpoint.ts';
import { extractedBy } from './prepare.ts';
import { type Path, quoted, type Report } from './report.ts';
import type { Subject } from './subject.ts';
import { checkTextBody } from './text-body.ts';

/** A template needs a method with a body, a body param for each placeholder, and a placeholder for each body param. */
export function checkBody(subject: Subject): void {
    const { draft, at, report, params } = subject;
    if (draft.body_required === false && !params.some((param) => param.draft.source === 'body')) {
        report.refuse([...at, 'body_required'], 'Without body params the body is always the same: leave this out.');
    }
    if (subject.bodyFormat === 'multipart' && subject.effect === 'read')
        report.refuse([...at, 'body_format'], 'Only a write sends a multipart body: use another format, or effect write.');
    if (draft.body === undefined) {
        if (isTextFormat(subject.bodyFormat) && subject.sendsBody)
            report.add([...at, 'body'], 'REQUIRED', `A body of format ${subject.bodyFormat} is a string with placeholders: write it here.`);
        return;
    }
    const place = [...at, 'body'];
    if (isSafeMethod(draft.method)) {
        report.refuse(place, `A ${draft.method} request has no body: leave the template out, or use another method.`);
    }
    if (subject.bodyFormat === 'form' || subject.bodyFormat === 'multipart') checkFormTemplate(draft.body, place, report);
    if (isTextFormat(subject.bodyFormat)) {
        if (typeof draft.body === 'string') checkTextBody(draft.body, subject.bodyFormat, place, report);
        else report.add(place, 'INVALID_TYPE', `The template of a body of format ${subject.bodyFormat} must be a string.`);
    }
    const bodyParams = new Set(params.filter((param) => param.draft.source === 'body').map((param) => param.draft.name));
    const used = new Set<string>();
    const extracted = extractedBy(draft);
    const find = isTextFormat(subject.bodyFormat) ? findInText : findPlaceholders;
    find(draft.body, place, (name, where) => {
        used.add(name);
        const extract = extractOf(name);
        if (extract !== undefined && extracted.has(extract)) return;
        if (!bodyParams.has(name) && !report.isFull()) {
            report.add(
                where,
                'TEMPLATE_MISMATCH',
                `${quoted(`{${name}}`)} stands for a param of this name with source body, and there is none.`,
            );
        }
    });
    for (const { draft: param, at: where } of params) {
        if (param.source !== 'body' || param.name === undefined || used.has(param.name)) continue;
        report.add(
            [...where, 'name'],
            'TEMPLATE_MISMATCH',
            `The body has no "{…}" for the body param ${quoted(param.name)}, so it would never be sent.`,
        );
    }
}

function findInText(value: Json, at: Path, found: (name: string, at: Path) => void): void {
    if (typeof value === 'string') for (const name of new Set(textPlaceholders(value))) found(name, at);
}

/** Recursion is bounded: a package nests at most 32 levels. */
function findPlaceholders(value: Json, at: Path, found: (name: string, at: Path) => void): void {
    if (typeof value === 'string') {
        const name = placeholderIn(value);
        if (name !== undefined) found(name, at);
        return;
    }
    if (typeof value !== 'object' || value === null) return;
    const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [key, item] of entries) findPlaceholders(item, [...at, key], found);
}

/** The template of a form consists of names with plain values or lists of plain values. */
function checkFormTemplate(body: Json, at: Path, report: Report): void {
    if (!isObject(body)) {
        report.add(at, 'INVALID_TYPE', 'The template of a form must be an object of field names.');
        return;
    }
    for (const [name, value] of Object.entries(body)) {
        const values = Array.isArray(value) ? value : [value];
        if (values.some((item) => typeof item === 'object')) {
            report.refuse([...at, name], 'A field of a form must be a string, a number, a boolean or a list of these.');
        }
    }
}
