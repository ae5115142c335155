import type { JsonObject } from '../../shared/domain/types.ts';

/** A recorded call that becomes an example if the contributor agrees. */
export interface ExampleCandidate {
    endpoint: string;
    method: string;
    url: string;
    params: JsonObject;
}
