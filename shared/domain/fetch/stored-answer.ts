/** A stored answer, which is repeated byte for byte. */
export interface StoredAnswer {
    status: number;
    /** Lower-case names. Contains only headers that belong to the answer, not to the call. */
    headers: Record<string, string>;
    body: string;
}

/** The parts of an answer, which are encrypted together. With `tail`, a number of the database goes between the two parts. */
export interface AnswerParts {
    headers: Record<string, string>;
    head: string;
    tail?: string;
}

/** Serializes as a line of JSON, followed by the unchanged body. So a large body is never parsed. */
export function writeParts({ headers, head, tail }: AnswerParts): string {
    const split = tail === undefined ? undefined : head.length;
    return `${JSON.stringify({ headers, split })}\n${head}${tail ?? ''}`;
}

/** The headers, and the body with its number if it has one. */
export function joinParts(text: string, figure: number | null): { headers: Record<string, string>; body: string } {
    const end = text.indexOf('\n');
    const { headers, split } = JSON.parse(text.slice(0, end)) as { headers: Record<string, string>; split?: number };
    const body = text.slice(end + 1);
    return { headers, body: split === undefined ? body : `${body.slice(0, split)}${figure}${body.slice(split)}` };
}
