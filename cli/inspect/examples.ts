import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import type { Json, JsonObject, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import type { ExampleCandidate } from './example-candidate.ts';
import type { Group } from './routes/groups.ts';
import { valuesIn } from './words/segments.ts';

/** Asks the contributor about each read with a recorded call and adds the confirmed ones. Adds nothing without `confirm`. */
export async function addExamples(
    drafted: readonly { endpoint: PackageEndpoint; group: Group }[],
    confirm: ((candidate: ExampleCandidate) => boolean | Promise<boolean>) | undefined,
): Promise<PackageEndpoint[]> {
    const endpoints: PackageEndpoint[] = [];
    for (const { endpoint, group } of drafted) {
        const params = confirm === undefined || endpoint.method !== 'GET' ? undefined : paramsOf(endpoint, group);
        const isConfirmed =
            params !== undefined &&
            (await confirm?.({ endpoint: endpoint.name, method: endpoint.method, url: endpoint.url, params })) === true;
        endpoints.push(isConfirmed ? { ...endpoint, examples: [{ params }] } : endpoint);
    }
    return endpoints;
}

function paramsOf({ params = [] }: PackageEndpoint, { sample, segments }: Group): JsonObject | undefined {
    if (sample === undefined) return undefined;
    const path = segments.flatMap((piece, place) => {
        if (piece.form === 'word') return [];
        return valuesIn(piece, sample.segments[place] ?? '').map(percentDecode);
    });
    const names = params.filter(({ source }) => source === 'path').map(({ name }) => name);
    const texts = new Map<string, string>(names.map((name, index) => [name, path[index] ?? '']));
    for (const [name, text] of sample.query) if (!texts.has(name)) texts.set(name, text);
    const values = params
        .filter(({ name }) => texts.has(name))
        .map((param): [string, Json] => [param.name, convertText(param, texts.get(param.name) ?? '')]);
    const isWhole = params.every(({ name, required }) => !required || texts.has(name));
    return isWhole ? Object.fromEntries(values) : undefined;
}

function convertText({ schema }: PackageParam, text: string): Json {
    const type = isObject(schema) ? schema['type'] : undefined;
    if (type === 'integer' || type === 'number') return Number(text);
    return type === 'boolean' ? text === 'true' : text;
}
