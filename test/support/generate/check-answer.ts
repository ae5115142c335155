import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../../shared/domain/types.ts';
import type { OpenApi, Operation } from './document.ts';

/** An answer as it was received. */
export interface WireAnswer {
    status: number;
    headers: Headers;
    text: string;
}

/** Headers of HTTP itself, of browser rules and of the transport. No operation has to document them. */
const AMBIENT = new Set([
    'connection',
    'keep-alive',
    'date',
    'content-type',
    'content-length',
    'content-encoding',
    'transfer-encoding',
    'vary',
    'x-content-type-options',
    'access-control-allow-origin',
    'access-control-expose-headers',
]);

/** Checks an answer against the document. `outcome` is the code of a refusal, `success` or `not modified`; `faults` are the deviations. */
type AnswerCheck = (operation: Operation, answer: WireAnswer) => { outcome: string; faults: string[] };

export function openAnswerCheck(document: OpenApi): AnswerCheck {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document as object, 'doc');
    const compiled = new Map<string, ValidateFunction>();
    const validator = (pointer: string) => {
        const known = compiled.get(pointer) ?? ajv.compile({ $ref: `doc#${pointer}` });
        compiled.set(pointer, known);
        return known;
    };

    return ({ path, method, responses }, { status, headers, text }) => {
        const response = responses[status];
        if (response === undefined)
            return { outcome: `${status}`, faults: [`the status ${status} is not described: ${text.slice(0, 300)}`] };
        const faults: string[] = [];
        const described = new Set<string>();
        for (const [name, { $ref }] of Object.entries(response.headers ?? {})) {
            described.add(name.toLowerCase());
            const header = document.components.headers[$ref.split('/').at(-1) ?? ''];
            if (header === undefined) throw new Error(`the document has no header ${$ref}`);
            const value = headers.get(name);
            if (value === null && header.required) faults.push(`the header ${name} is missing`);
            if (value === null) continue;
            const isNumber = header.schema['type'] === 'integer';
            const validate = validator(`/components/headers/${$ref.split('/').at(-1)}/schema`);
            if (!validate(isNumber ? Number(value) : value)) faults.push(`the header ${name} is ${value}`);
        }
        for (const name of headers.keys())
            if (!described.has(name) && !AMBIENT.has(name)) faults.push(`the header ${name} is not described`);
        if (response.content === undefined) {
            if (text !== '') faults.push(`there is a body: ${text.slice(0, 100)}`);
            return { outcome: 'not modified', faults };
        }
        if (headers.get('content-type') !== 'application/json; charset=utf-8') faults.push(`it is ${headers.get('content-type')}`);
        const body = readJson(text);
        const place = `/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method.toLowerCase()}`;
        const validate = validator(`${place}/responses/${status}/content/application~1json/schema`);
        if (!validate(body)) faults.push(`the body is not what is described: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`);
        const { error } = (body ?? {}) as { error?: { code?: string } };
        return { outcome: status < 400 ? 'success' : (error?.code ?? 'no code'), faults };
    };
}

function readJson(text: string): Json | undefined {
    try {
        return JSON.parse(text) as Json;
    } catch {
        return undefined;
    }
}
