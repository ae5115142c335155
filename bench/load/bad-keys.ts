import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { openPool } from './pool.ts';
import { printRateWhenStopped } from './sent.ts';

/**
 * Guesses API keys, each a different one: `node bad-keys.ts <host> <port> <per second> <mistyped|unknown>`. Mistyped keys have a wrong
 * checksum; unknown keys have a valid one. Runs until it is stopped. Prints a line when it begins, and how many it sent when it is stopped.
 */
const [host = '', port = '', perSecond = '', kind = ''] = process.argv.slice(2);
const pool = await openPool(new URL(`http://${host}:${port}`), 0);
const started = performance.now();
let sent = 0;
setInterval(() => {
    for (const due = ((performance.now() - started) * Number(perSecond)) / 1000; sent < due; sent++) {
        const connection = pool.take();
        const key = newApiKey();
        const guess = kind === 'unknown' ? key : `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
        const request = `GET /v1/account HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${guess}\r\n\r\n`;
        connection.call(Buffer.from(request), () => pool.giveBack(connection));
    }
}, 1);
printRateWhenStopped(() => sent);
process.stdout.write('load begins\n');
