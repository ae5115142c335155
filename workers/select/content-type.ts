/** The media type of a Content-Type in lower case, without its parameters. */
export function essenceOf(header: string | undefined): string | undefined {
    const { essence } = readContentType(header);
    return essence === '' ? undefined : essence;
}

/** Proxies join the types of several headers with commas. The last one counts (WHATWG, "Fetch"), with the charset of an equal one. */
export function readContentType(header = ''): { essence: string; charset: string | undefined } {
    const read: ReturnType<typeof readContentType> = { essence: '', charset: undefined };
    for (const part of header.split(',')) {
        const [written = ''] = part.split(';', 1);
        const essence = written.trim().toLowerCase();
        const found = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(part);
        const isType = /^[^\s/]+\/[^\s/]+$/.test(essence) && essence !== '*/*';
        read.charset = found?.[1] ?? found?.[2] ?? (isType && essence !== read.essence ? undefined : read.charset);
        if (isType) read.essence = essence;
    }
    return read;
}
