/** Reads a whole body. Undefined if it has more than `maxBytes`; the rest then stays unread. */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > maxBytes) return undefined;
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}
