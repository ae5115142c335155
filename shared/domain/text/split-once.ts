/** The texts before and after the first `mark`; without a mark, the whole text alone. */
export function splitOnce(text: string, mark: string): [before: string, after: string | undefined] {
    const place = text.indexOf(mark);
    return place === -1 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}
