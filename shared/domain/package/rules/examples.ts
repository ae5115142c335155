import { jsonProblem } from '../../json/json-bounds.ts';
import { quoted } from './report.ts';
import type { Subject } from './subject.ts';
import { reportSecret } from './tree.ts';
import { checkValue } from './values.ts';

/** An example must be a valid call: known params only, all of them valid, and all required params present. */
export function checkExamples({ draft, at, report, params, slots, budget }: Subject): void {
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
