export function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
