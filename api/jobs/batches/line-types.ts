/** The media types of ndjson. None is registered, and libraries use all of them; answers have the first. */
export const LINE_TYPES: readonly string[] = [
    'application/x-ndjson',
    'application/ndjson',
    'application/jsonl',
    'application/x-jsonl',
    'application/jsonlines',
    'application/x-jsonlines',
    'application/json-lines',
];
