import { createServer, type Socket } from 'node:net';
import { eventually } from '../../support/eventually.ts';

interface ReceivedMail {
    to: string;
    from: string;
    replyTo: string | undefined;
    subject: string;
    text: string;
    /** Path and query of the link in it. */
    link: string | undefined;
}

/** A mail server on loopback that stores its mails. */
export interface MailServer {
    url: string;
    mails: ReceivedMail[];
    /** The next mail to an address that was not returned before. */
    mailTo(address: string): Promise<ReceivedMail>;
    /** Refuses mails with this code from now on; 0 accepts them again. */
    refuseWith(code: number): void;
    close(): Promise<void>;
}

export async function openMailServer(): Promise<MailServer> {
    const mails: ReceivedMail[] = [];
    const unread = new Set<ReceivedMail>();
    const sockets = new Set<Socket>();
    let refusal = 0;
    const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        socket.on('error', () => socket.destroy());
        let [recipient, pending, isData] = ['', '', false];
        socket.write('220 mail.test ESMTP\r\n');
        socket.on('data', (chunk: Buffer) => {
            pending += chunk.toString('utf8');
            for (;;) {
                const end = pending.indexOf(isData ? '\r\n.\r\n' : '\r\n');
                if (end < 0) return;
                const part = pending.slice(0, end);
                pending = pending.slice(end + (isData ? 5 : 2));
                if (isData) {
                    const message = readMail(recipient, part);
                    mails.push(message);
                    unread.add(message);
                    isData = false;
                    socket.write('250 kept\r\n');
                    continue;
                }
                const verb = part.slice(0, 4).toUpperCase();
                if (verb === 'RCPT') recipient = /<(.*)>/.exec(part)?.[1] ?? '';
                isData = verb === 'DATA';
                if (verb === 'QUIT') return void socket.end('221 bye\r\n');
                const isRefused = refusal > 0 && verb === 'RCPT';
                socket.write(isRefused ? `${refusal} not now\r\n` : isData ? '354 go on\r\n' : '250 mail.test\r\n');
            }
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return {
        url: `smtp://127.0.0.1:${port}`,
        mails,
        async mailTo(wanted) {
            const find = () => [...unread].find(({ to }) => to === wanted);
            await eventually(
                async () => find(),
                (message) => message !== undefined,
                15_000,
            );
            const message = find();
            if (message === undefined) throw new Error(`no message to ${wanted}`);
            unread.delete(message);
            return message;
        },
        refuseWith(code) {
            refusal = code;
        },
        async close() {
            for (const socket of sockets) socket.destroy();
            await new Promise((resolve) => server.close(resolve));
        },
    };
}

function readMail(to: string, raw: string): ReceivedMail {
    const split = raw.indexOf('\r\n\r\n');
    const head = raw.slice(0, split).replaceAll(/\r\n[ \t]+/g, ' ');
    const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
    const body = raw.slice(split + 4);
    const text = header('content-transfer-encoding') === 'quoted-printable' ? unquoted(body) : body.replaceAll(/(?<!\n--) \r\n/g, ' ');
    const link = /https?:\/\/[^/\s]+(\/\S+)/.exec(text)?.[1];
    return { to, from: header('from'), replyTo: header('reply-to') || undefined, subject: header('subject'), text, link };
}

function unquoted(text: string): string {
    const bytes = text
        .replaceAll(/=\r\n/g, '')
        .replaceAll(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return Buffer.from(bytes, 'latin1').toString('utf8');
}
