import { connect, type Socket } from 'node:net';
import { clientAddress } from './client-address.ts';

/**
 * A keep-alive connection that carries one call at a time. It does as little work as possible, so that the generator is not what is
 * measured.
 */
export interface Connection {
    /** `status` is 0 if the connection broke. */
    call(request: Buffer, answered: (status: number, answer: Buffer) => void): void;
    isBusy(): boolean;
    close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY: Buffer = Buffer.alloc(0);

/** Connects at the first call. After a break it connects again at the next call. */
export function openConnection(host: string, port: number): Connection {
    let socket: Socket | undefined;
    let received = EMPTY;
    let expected = -1;
    let status = 0;
    let waiting: ((status: number, answer: Buffer) => void) | undefined;

    function settle(outcome: number): void {
        const answered = waiting;
        const answer = received;
        waiting = undefined;
        received = EMPTY;
        expected = -1;
        answered?.(outcome, answer);
    }
    function take(chunk: Buffer): void {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        if (expected < 0) {
            const end = received.indexOf(HEAD_END);
            if (end < 0) return;
            const head = received.toString('latin1', 0, end);
            const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
            if (length === undefined) return void socket?.destroy();
            status = Number(head.slice(9, 12));
            expected = end + HEAD_END.length + Number(length);
        }
        if (received.length >= expected) settle(status);
    }
    function open(): Socket {
        const fresh = connect({ host, port, noDelay: true, localAddress: clientAddress() });
        fresh.on('data', take);
        fresh.on('error', () => undefined);
        fresh.on('close', () => {
            socket = undefined;
            settle(0);
        });
        return fresh;
    }
    return {
        call(request, answered) {
            waiting = answered;
            socket ??= open();
            socket.write(request);
        },
        isBusy: () => waiting !== undefined,
        close: () => socket?.destroy(),
    };
}
