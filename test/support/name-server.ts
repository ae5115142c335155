import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The records of a name. `silent`: queries for it are never answered. */
interface NameRecords {
    txt?: readonly string[];
    cname?: string;
    silent?: boolean;
}

/** A DNS server on loopback that answers by UDP for the names that a test sets. */
export interface NameServer {
    /** `address:port`, the form of CLAIM_RESOLVERS. */
    resolver: string;
    names: Map<string, NameRecords>;
    /** The queried names in order. */
    asked: string[];
    close(): Promise<void>;
}

const TXT = 16;
const CNAME = 5;
const NO_SUCH_NAME = 3;

export async function openNameServer(): Promise<NameServer> {
    const names = new Map<string, NameRecords>();
    const asked: string[] = [];
    const socket = createSocket('udp4');
    socket.on('message', (query, { address, port }) => {
        const { name, end } = readName(query, 12);
        asked.push(name);
        const known = names.get(name);
        if (known?.silent) return;
        const type = query.readUInt16BE(end);
        const question = query.subarray(12, end + 4);
        const answers = known === undefined ? [] : answersOf(names, name, type);
        const head = Buffer.alloc(12);
        query.copy(head, 0, 0, 2);
        head.writeUInt16BE(0x8180 | (known === undefined ? NO_SUCH_NAME : 0), 2);
        head.writeUInt16BE(1, 4);
        head.writeUInt16BE(answers.length, 6);
        socket.send(Buffer.concat([head, question, ...answers]), port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return {
        resolver: `127.0.0.1:${socket.address().port}`,
        names,
        asked,
        close: () => new Promise((done) => socket.close(() => done())),
    };
}

/** The answers of a resolver that follows aliases: the alias first, then the records of its target. */
function answersOf(names: ReadonlyMap<string, NameRecords>, name: string, type: number): Buffer[] {
    const { txt = [], cname } = names.get(name) ?? {};
    if (cname !== undefined) {
        const alias = record(name, CNAME, wireName(cname));
        return type === CNAME ? [alias] : [alias, ...answersOf(names, cname, type)];
    }
    return type === TXT ? txt.map((text) => record(name, TXT, textChunks(text))) : [];
}

function record(name: string, type: number, data: Buffer): Buffer {
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt32BE(0, 4);
    fixed.writeUInt16BE(data.length, 8);
    return Buffer.concat([wireName(name), fixed, data]);
}

function textChunks(text: string): Buffer {
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length || at === 0; at += 255) {
        const chunk = bytes.subarray(at, at + 255);
        chunks.push(Buffer.from([chunk.length]), chunk);
    }
    return Buffer.concat(chunks);
}

function wireName(name: string): Buffer {
    return Buffer.concat([...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])]);
}

/** Reads a name from a packet. @returns the name in lower case, since resolvers mix cases at random, and the offset after its bytes */
function readName(packet: Buffer, start: number): { name: string; end: number } {
    const labels: string[] = [];
    let at = start;
    for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
        labels.push(packet.toString('latin1', at + 1, at + 1 + length));
        at += length + 1;
    }
    return { name: labels.join('.').toLowerCase(), end: at + 1 };
}
