/** Names the further packages of a document: a unique label, made of the tag, before the site's name. */
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
