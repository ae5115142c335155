/** Gives names of the registry to further packages of a document: a label for each before the name of the site, every one once. */
export function placeNames(site: string): (tag: string) => string {
    const taken = new Set(['www']);
    return (tag) => {
        const words = tag
            .normalize('NFKD')
            .toLowerCase()
            .replaceAll(/[^a-z0-9]+/g, '-')
            .slice(0, 40)
            .replaceAll(/^-+|-+$/g, '');
        const plain = words === '' || /^\d+$/.test(words) || words.startsWith('xn--') ? `part${words === '' ? '' : `-${words}`}` : words;
        let label = plain;
        for (let count = 2; taken.has(label); count++) label = `${plain}-${count}`;
        taken.add(label);
        return `${label}.${site}`;
    };
}
