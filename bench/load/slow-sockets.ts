import { connect } from 'node:net';
import { clientAddress } from './client-address.ts';

/**
 * Opens `count` connections that never finish their headers, and as many that never finish their body: `node slow-sockets.ts <port> <count>
 * <key>`. Each sends a byte a second, not all at the same moment, as if from separate machines. Prints a line when all are open. When all
 * were closed by the server, it prints as JSON how many seconds the last of each kind lived, and the share of the due bytes that were sent.
 */
const [port = '', count = '0', apiKey = ''] = process.argv.slice(2);
const headers = 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX-Slow: ';
const body = `POST /v1/fetch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;

let [sent, due] = [0, 0];
const opened: Promise<void>[] = [];
const ended: Promise<{ kind: 'headers' | 'body'; seconds: number }>[] = [];
for (let index = 0; index < Number(count); index++) {
    const phaseMs = (index * 1000) / Number(count);
    open('headers', headers, phaseMs);
    open('body', body, phaseMs);
}
await Promise.all(opened);
process.stdout.write('all are open\n');
const all = await Promise.all(ended);
const longest = (kind: string) => Math.max(...all.filter((one) => one.kind === kind).map(({ seconds }) => seconds));
process.stdout.write(`${JSON.stringify({ headers_s: longest('headers'), body_s: longest('body'), sent_share: sent / due })}\n`);

function open(kind: 'headers' | 'body', beginning: string, phaseMs: number): void {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: clientAddress() });
    const { promise, resolve } = Promise.withResolvers<void>();
    opened.push(promise);
    ended.push(
        new Promise((done) => {
            let began = performance.now();
            let timer: NodeJS.Timeout | undefined;
            socket.once('connect', () => {
                began = performance.now();
                socket.write(beginning);
                const send = () => {
                    socket.write('x');
                    sent++;
                };
                timer = setTimeout(() => {
                    send();
                    timer = setInterval(send, 1000);
                }, phaseMs);
                resolve();
            });
            socket.on('error', () => undefined);
            socket.resume().once('close', () => {
                clearInterval(timer);
                resolve();
                const lived = performance.now() - began;
                due += Math.floor((lived - phaseMs) / 1000) + 1;
                done({ kind, seconds: lived / 1000 });
            });
        }),
    );
}
