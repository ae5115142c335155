import { newApiKey } from '../../shared/domain/accounts/api-key.ts';
import { openPool } from './pool.ts';
import { tellWhenStopped } from './sent.ts';

/**
 * Guesses API keys, no two of them alike: `node bad-keys.ts <host> <port> <a second> <mistyped|unknown>`. Mistyped ones show by their
 * checksum; unknown ones look right. Runs until it is stopped, and says when it begins and, stopped, how many it sent.
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
tellWhenStopped(() => sent);
process.stdout.write('load begins\n');
