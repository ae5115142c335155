import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';

/** Follows references inside one document. */
export interface Resolver {
    /** The object that `value` is or refers to; `undefined` for a reference to nothing, to itself or to another file. */
    resolve(value: Json | undefined): JsonObject | undefined;
    /** The value that a reference names, even if this value is a reference too. */
    target(ref: string): Json | undefined;
}

const MAX_STEPS = 20;

/** Resolves references of a document lazily. */
export function createResolver(document: JsonObject): Resolver {
    const target = (ref: string): Json | undefined => {
        if (!ref.startsWith('#')) return undefined;
        let here: Json | undefined = document;
        for (const step of pointerSteps(ref.slice(1))) {
            if (Array.isArray(here)) here = here[Number(step)];
            else here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
        }
        return here;
    };
    return {
        target,
        resolve(value) {
            let here: Json | undefined = value;
            for (let step = 0; step < MAX_STEPS; step++) {
                if (!isObject(here)) return undefined;
                const ref: Json | undefined = here['$ref'];
                if (typeof ref !== 'string') return here;
                here = target(ref);
            }
            return undefined;
        },
    };
}

function pointerSteps(pointer: string): string[] {
    return pointer
        .split('/')
        .slice(1)
        .map((step) => percentDecode(step).replaceAll('~1', '/').replaceAll('~0', '~'));
}
