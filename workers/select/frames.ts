import { parseExact } from '../../shared/domain/json/exact-numbers.ts';

/** A frame between parent and child: length of the JSON header, length of the payload, header, payload. */
const PREFIX_BYTES = 8;

/** The beginning of a frame. @param payload length of the payload */
export function frameHead(header: object, payload: number): Buffer {
    const json = Buffer.from(JSON.stringify(header));
    const head = Buffer.allocUnsafe(PREFIX_BYTES + json.length);
    head.writeUInt32LE(json.length, 0);
    head.writeUInt32LE(payload, 4);
    json.copy(head, PREFIX_BYTES);
    return head;
}

/** Assembles frames from pieces of any size. */
export function frameReader(onFrame: (header: unknown, payload: Buffer) => void): (piece: Buffer) => void {
    let wanted = PREFIX_BYTES;
    let lengths: { header: number; payload: number } | undefined;
    let pieces: Buffer[] = [];
    let length = 0;
    return (piece) => {
        pieces.push(piece);
        length += piece.length;
        while (length >= wanted) {
            const all = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
            if (lengths === undefined) {
                lengths = { header: all.readUInt32LE(0), payload: all.readUInt32LE(4) };
                wanted = PREFIX_BYTES + lengths.header + lengths.payload;
                pieces = [all];
                continue;
            }
            const endOfHeader = PREFIX_BYTES + lengths.header;
            const header: unknown = parseExact(all.toString('utf8', PREFIX_BYTES, endOfHeader));
            onFrame(header, all.subarray(endOfHeader, wanted));
            const rest = all.subarray(wanted);
            pieces = rest.length === 0 ? [] : [rest];
            length = rest.length;
            wanted = PREFIX_BYTES;
            lengths = undefined;
        }
    };
}
