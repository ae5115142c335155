import type { JsonObject } from '../../shared/domain/types.ts';

/** A call that was seen and may become an example, once its owner agrees. */
export interface ExampleCandidate {
    endpoint: string;
    method: string;
    url: string;
    params: JsonObject;
}
