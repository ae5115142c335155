/** Names of one scope: no two are the same, and each may be one in Python. */
export interface Names {
    take(wanted: string): string;
}

const KEYWORDS =
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda ' +
    'nonlocal not or pass raise return try while with yield self';

export function createNames(taken: readonly string[]): Names {
    const used = new Set([...KEYWORDS.split(' '), ...taken]);
    return {
        take(wanted) {
            // Two underscores before a name change it within a class.
            const plain = wanted.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_+/, '');
            let name = plain === '' || /^\d/.test(plain) ? `p_${plain}` : plain;
            while (used.has(name)) name = `${name}_`;
            used.add(name);
            return name;
        },
    };
}
