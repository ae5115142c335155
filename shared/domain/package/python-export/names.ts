/** The names of one scope. They are unique and valid in Python. */
export interface Names {
    take(wanted: string): string;
}

const KEYWORDS =
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda ' +
    'nonlocal not or pass raise return try while with yield self';

export function createNames(taken: readonly string[]): Names {
    const used = new Set([...KEYWORDS.split(' '), ...taken]);
    /** The number to try next for each name. A schema may have thousands of names that are equal in Python. */
    const next = new Map<string, number>();
    return {
        take(wanted) {
            // Python mangles names in a class that begin with two underscores.
            const plain = wanted.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_+/, '');
            const first = plain === '' || /^\d/.test(plain) ? `p_${plain}` : plain;
            let name = first;
            for (let number = next.get(first) ?? 1; used.has(name); number++) {
                name = number === 1 ? `${first}_` : `${first}_${number}`;
                next.set(first, number + 1);
            }
            used.add(name);
            return name;
        },
    };
}

/** Converts `search_products` to `SearchProducts`. */
export function pascal(name: string): string {
    const words = name.split(/[^A-Za-z0-9]+/);
    return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
