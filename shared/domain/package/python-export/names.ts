/** Names of one scope: no two are the same, and each may be one in Python. */
export interface Names {
    take(wanted: string): string;
}

const KEYWORDS =
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda ' +
    'nonlocal not or pass raise return try while with yield self';

export function createNames(taken: readonly string[]): Names {
    const used = new Set([...KEYWORDS.split(' '), ...taken]);
    /** By what was wanted, the number of the next one: a schema may have thousands of names that are the same in letters of Python. */
    const next = new Map<string, number>();
    return {
        take(wanted) {
            // Two underscores before a name change it within a class.
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
