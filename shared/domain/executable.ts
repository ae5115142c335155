import type { Endpoint, Kind } from './types.ts';

const EXECUTABLE: Readonly<Record<Kind, boolean>> = {
    api_call: true,
    navigate: true,
    search: true,
    paginate: false,
    submit_form: false,
};

/**
 * Whether the workers can call this endpoint today; where not, hosted fetch answers ENDPOINT_NOT_HOSTED. Following pages and preparing
 * forms are not built yet, whatever kind asks for them.
 */
export function isExecutable(endpoint: Pick<Endpoint, 'kind' | 'prepare' | 'pagination'>): boolean {
    return EXECUTABLE[endpoint.kind] && endpoint.prepare === undefined && endpoint.pagination === undefined;
}
