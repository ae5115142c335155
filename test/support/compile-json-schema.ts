import { Ajv2020 } from 'ajv/dist/2020.js';
import { FORMATS } from '../../shared/domain/json/schema/formats.ts';
import type { Verdict } from '../../shared/domain/json/schema/interpret.ts';
import { compilePattern, type LinearPattern } from '../../shared/domain/json/schema/patterns.ts';
import type { JsonSchema } from '../../shared/domain/types.ts';

/** Ajv, with our formats and patterns. Our own validator must come to the same results. */
const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    ownProperties: true,
    formats: FORMATS,
    code: { regExp: Object.assign(linearRegExp, { code: 'linearRegExp' }) },
});

function linearRegExp(source: string): LinearPattern {
    const made = compilePattern(source);
    if (!made.ok) throw new TypeError(`the pattern ${made.fault}`);
    // Ajv compares patterns by their text.
    return Object.assign(made.pattern, { toString: () => source });
}

export function compileJsonSchema(schema: JsonSchema): (value: unknown) => Verdict {
    const validate = ajv.compile(schema);
    return (value) => {
        if (validate(value)) return { ok: true };
        const errors = (validate.errors ?? []).slice(0, 10).map(({ instancePath, keyword, message = '', params }) => {
            const stray: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
            if (typeof stray !== 'string') return { path: instancePath, message, keyword };
            return { path: `${instancePath}/${stray}`, message: 'is not a property of this object', keyword };
        });
        return { ok: false, errors };
    };
}
