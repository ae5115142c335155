import { isFileSchema } from '../../fetch/files.ts';
import { type Placed, unsendableType } from '../../fetch/param-place.ts';
import { extractOf } from '../../fetch/prepared-values.ts';
import { jsonProblem } from '../../json/json-bounds.ts';
import { countNodes, MAX_PARAM_NODES } from '../../json/schema/count-nodes.ts';
import { isSimple } from '../../json/schema/simple.ts';
import { checkJsonSchema } from '../../json/schema.ts';
import type { JsonSchema } from '../../types.ts';
import { isSafeMethod } from '../endpoint.ts';
import { MAX_COMPILED } from './bounds.ts';
import { headerNameFault } from './headers.ts';
import { checkExtracted, extractedBy, stepsOfDraft } from './prepare.ts';
import { type Path, pointerTo, quoted } from './report.ts';
import type { ParamDraft } from './structure.ts';
import type { Subject } from './subject.ts';
import { PROTOTYPE_KEYS, reportSecret } from './tree.ts';
import { PLACEHOLDER_NAME, placeholdersOf } from './urls.ts';
import { checkValue, type Slot } from './values.ts';

/** Every placeholder requires a param with source path, and every such param a placeholder. */
export function checkPlaceholders({ draft, at, report, params }: Subject): void {
    if (draft.url === undefined) return;
    const placeholders = placeholdersOf(draft.url);
    const inSteps = stepsOfDraft(draft, at).flatMap((step) => placeholdersOf(step.draft.url ?? ''));
    const extracted = extractedBy(draft);
    const pathParams = new Set(params.filter((param) => param.draft.source === 'path').map((param) => param.draft.name));
    for (const name of placeholders) {
        const extract = extractOf(name);
        if (extract !== undefined) checkExtracted(extract, extracted, [...at, 'url'], report);
        else if (!pathParams.has(name)) {
            report.add(
                [...at, 'url'],
                'TEMPLATE_MISMATCH',
                `The placeholder {${name}} needs a param of this name with source path; query params are appended without one.`,
            );
        }
    }
    for (const { draft: param, at: place } of params) {
        if (param.source !== 'path' || param.name === undefined || [...placeholders, ...inSteps].includes(param.name)) continue;
        report.add([...place, 'name'], 'TEMPLATE_MISMATCH', `The url has no placeholder for the path param ${quoted(param.name)}.`);
    }
}

/** Checks names, schemas, defaults and examples of the params. Fills in `slots`. */
export function checkParams(subject: Subject): void {
    const { params, report, slots } = subject;
    const seen = new Set<string>();
    let compiled = 0;
    let nodes = MAX_PARAM_NODES;
    for (const { draft: param, at } of params) {
        const { name, source } = param;
        if (name !== undefined) {
            if (seen.has(name))
                report.add([...at, 'name'], 'DUPLICATE_NAME', `Another param of this endpoint is called ${quoted(name)} too.`);
            seen.add(name);
            if (PROTOTYPE_KEYS.has(name)) report.add([...at, 'name'], 'FORBIDDEN_FIELD', 'A param of this name is not accepted.');
        }
        const isSchemaBroken = Object.hasOwn(param, 'schema') && !isSound(param.schema, [...at, 'schema'], subject);
        if (source === undefined) continue;
        checkPlace(subject, param, at);
        const schema = isSchemaBroken ? undefined : (param.schema as JsonSchema | undefined);
        if (schema !== undefined && !isSimple(schema) && ++compiled === MAX_COMPILED + 1)
            report.add([...at, 'schema'], 'TOO_COMPLEX', TOO_MANY_COMPILED);
        if (schema !== undefined && nodes >= 0) {
            nodes -= countNodes(schema, nodes);
            if (nodes < 0) report.add([...at, 'schema'], 'TOO_COMPLEX', TOO_MANY_NODES);
        }
        const slot: Slot = { ...placedAs(param, source), bodyFormat: subject.bodyFormat, schema, isSchemaBroken };
        if (name !== undefined && !slots.has(name)) slots.set(name, slot);
        for (const field of ['default', 'example'] as const) {
            const value = param[field];
            if (value === undefined) continue;
            checkValue(value, slot, [...at, field], report, subject.budget);
            // A package may not contain values that callers may not send.
            const unfit = jsonProblem({ [name ?? '']: value });
            if (unfit !== undefined) report.add([...at, field], unfit.code, `A call with this value would be refused. ${unfit.message}`);
            // The scan needs the name: next to the name api_key, a value is recognisable as a key that alone may look like a word.
            if (typeof value === 'string') reportSecret([...at, field], 'This value', `${name ?? ''}=${value.slice(0, 200)}`, report);
        }
    }
}

const TOO_MANY_COMPILED = `At most ${MAX_COMPILED} params of an endpoint have schemas with more than types, enums, bounds, patterns and plain items; make some simpler.`;

const TOO_MANY_NODES = `With their references put in place the JSON Schemas of all params of an endpoint are at most ${MAX_PARAM_NODES.toLocaleString('en')} schemas; make some simpler.`;

function isSound(schema: unknown, at: Path, { report, budget }: Subject): boolean {
    const problems = checkJsonSchema(schema, { at: pointerTo(at), forParam: true, budget });
    report.addAll(problems);
    return problems.length === 0;
}

function placedAs({ schema, style = 'repeat', segments = false }: ParamDraft, source: Placed['source']): Placed {
    return { source, schema: schema as JsonSchema | undefined, style, segments };
}

function checkPlace(subject: Subject, param: ParamDraft, at: Path): void {
    const { draft, report, bodyFormat } = subject;
    const { name, source } = param;
    if (source === undefined) return;
    if (source === 'body' && isSafeMethod(draft.method)) {
        report.refuse([...at, 'source'], `A ${draft.method} request has no body: use source query, or another method.`);
    }
    if (source === 'path') {
        if (name !== undefined && !PLACEHOLDER_NAME.test(name)) {
            report.refuse(
                [...at, 'name'],
                'The name of a path param has letters, digits and underscores, and does not begin with a digit.',
            );
        }
        if (param.required === false && !Object.hasOwn(param, 'default')) {
            report.refuse([...at, 'required'], 'A path param must be required or have a default: without a value there is no URL.');
        }
    }
    if (source === 'header') checkHeaderName(subject, name, at);
    if (param.segments === true && source !== 'path')
        report.refuse([...at, 'segments'], 'Only a path param has segments: leave this out, or use source path.');
    checkStyle(subject, param, at);
    if (isFileSchema(param.schema as JsonSchema | undefined) && (source !== 'body' || bodyFormat !== 'multipart'))
        report.refuse([...at, 'schema', 'format'], 'Only a body param of body_format multipart is a file.');
    const type = unsendableType(placedAs(param, source), bodyFormat);
    if (type !== undefined) report.refuse([...at, 'schema', 'type'], `A value of type ${type} cannot be sent from this source.`);
}

/** Header params follow the rules of fixed headers. They never replace fixed headers. */
function checkHeaderName({ draft, report, params }: Subject, name: string | undefined, at: Path): void {
    if (name === undefined) return;
    const lower = name.toLowerCase();
    const fault = headerNameFault(lower);
    if (fault !== undefined) report.add([...at, 'name'], fault.code, fault.message);
    else if (lower === 'content-type')
        report.add([...at, 'name'], 'FORBIDDEN_FIELD', 'The content-type is that of the body, which body_format tells.');
    if (Object.keys(draft.headers ?? {}).some((own) => own.toLowerCase() === lower))
        report.add(
            [...at, 'name'],
            'DUPLICATE_NAME',
            `The endpoint sets the header ${quoted(lower)} itself, and a param does not replace it.`,
        );
    const first = params.find(({ draft: other }) => other.source === 'header' && other.name?.toLowerCase() === lower);
    if (first !== undefined && first.at !== at && first.draft.name !== name)
        report.add([...at, 'name'], 'DUPLICATE_NAME', 'Another param is this header too; names of headers do not differ by case.');
}

/** A style defines how several values are written. Only a query and the fields of a form can have several values. */
function checkStyle({ draft, report, bodyFormat }: Subject, { source, style, schema }: ParamDraft, at: Path): void {
    if (style === undefined) return;
    const isField = source === 'body' && bodyFormat === 'form' && draft.body === undefined;
    if (source !== 'query' && !isField) {
        report.refuse([...at, 'style'], 'Only a query param and a field of a form without a template have a style.');
    } else if (style === 'deepObject' && schema === undefined) {
        report.add([...at, 'schema'], 'REQUIRED', 'An object in a query needs a schema that says what it holds.');
    }
}
