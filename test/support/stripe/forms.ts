/** The values of a Stripe form. `items[0][price]=…` nests. */
export type Form = { [name: string]: string | Form };

/** Reads a form or a query as Stripe does. Lists become objects with the keys 0, 1, …. */
export function readForm(text: string): Form {
    const form: Form = {};
    for (const [name, value] of new URLSearchParams(text)) {
        const path = [name.replace(/\[.*$/, ''), ...[...name.matchAll(/\[([^\]]*)\]/g)].map(([, part]) => part ?? '')];
        let place = form;
        for (const part of path.slice(0, -1)) {
            const next = place[part];
            const deeper: Form = typeof next === 'object' ? next : {};
            place[part] = deeper;
            place = deeper;
        }
        place[path.at(-1) ?? ''] = value;
    }
    return form;
}

/** The value at a path, as text. */
export function textAt(form: Form, ...path: string[]): string | undefined {
    const value = at(form, path);
    return typeof value === 'string' ? value : undefined;
}

/** A flat part of a form, such as `metadata`. */
export function flatAt(form: Form, ...path: string[]): Record<string, string> {
    const value = at(form, path);
    if (typeof value !== 'object') return {};
    return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function at(form: Form, path: readonly string[]): string | Form | undefined {
    let value: string | Form | undefined = form;
    for (const part of path) value = typeof value === 'object' ? value[part] : undefined;
    return value;
}
