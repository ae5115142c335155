/**
 * Reads a body as text. Returns undefined for one with more than `maxBytes` bytes after decompression, and closes its connection: a server
 * that does not stop would fill the memory.
 */
export async function readBody(response: Response, maxBytes: number): Promise<string | undefined> {
    if (response.body === null) return '';
    // Some implementations of fetch, passed by the caller, have no stream.
    if (typeof response.body?.getReader !== 'function') return response.text();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let bytes = 0; ; ) {
        const { done, value } = await reader.read();
        if (done) return text + decoder.decode();
        bytes += value.byteLength;
        if (bytes > maxBytes) {
            // It may have failed meanwhile, which changes nothing.
            reader.cancel().catch(() => undefined);
            return undefined;
        }
        text += decoder.decode(value, { stream: true });
    }
}
