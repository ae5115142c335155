import { createServer } from 'node:http';

/**
 * Receivers of webhooks, one for each host name. A separate process; prints its port. `/report` returns as JSON how many events the good
 * receivers got, how many distinct ones, and their times from record to arrival in milliseconds. A report resets them. `/ill` makes hosts
 * that begin with `hangs` and `fails` hang and fail; `/well` makes all work.
 */
let isIll = false;
let times: number[] = [];
let ids = new Set<string>();

const server = createServer({ keepAliveTimeout: 120_000 }, async (request, response) => {
    const { url = '', headers } = request;
    if (url === '/report') return void response.end(report());
    if (url === '/ill' || url === '/well') {
        isIll = url === '/ill';
        return void response.end();
    }
    const [kind = ''] = (headers.host ?? '').split(/[\d.]/);
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString();
    if (kind !== 'good') {
        if (!isIll) response.writeHead(204).end();
        else if (kind === 'fails') response.writeHead(500).end();
        return;
    }
    response.writeHead(204).end();
    const { data } = JSON.parse(body) as { data: { at: number } };
    const id = String(headers['webhook-id']);
    // An event arrives again if its worker died before it recorded the delivery. Only its first arrival counts.
    if (!ids.has(id)) times.push(Date.now() - data.at);
    ids.add(id);
});
server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`port ${typeof address === 'object' ? address?.port : ''}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function report(): string {
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? null;
    const text = JSON.stringify({ events: ids.size, p50: at(0.5), p99: at(0.99) });
    [times, ids] = [[], new Set()];
    return text;
}
