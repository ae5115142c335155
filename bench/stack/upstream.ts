import { createServer } from 'node:http';

/**
 * The called site: 1 KB of JSON over keep-alive connections, at once, or after the milliseconds that `/slow/<ms>/…` names. A separate
 * process; prints its port. A query with `until <ms>` names the deadline of its caller: `/late` returns as JSON how many of these calls
 * came, and how many came after their deadline. A report resets the counts.
 */
const page = JSON.stringify({
    total: 8,
    products: Array.from({ length: 8 }, (_, index) => ({
        id: index + 1,
        title: `Product number ${index + 1}`,
        price: { amount: 19.5 + index, currency: 'EUR' },
        text: 'comfortable, light',
    })),
    note: 'x'.repeat(128),
});
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(page) };

let watched = 0;
let late = 0;

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const { url = '' } = request;
    if (url === '/late') return void response.end(report());
    const until = /until(?:\+|%20)(\d{13})/.exec(url)?.[1];
    if (until !== undefined) watched++;
    if (until !== undefined && Date.now() > Number(until)) late++;
    const delay = /^\/slow\/(\d+)\//.exec(url)?.[1];
    const answer = () => void response.writeHead(200, headers).end(page);
    if (delay === undefined) answer();
    else setTimeout(answer, Number(delay));
});
server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`port ${typeof address === 'object' ? address?.port : ''}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function report(): string {
    const text = JSON.stringify({ watched, late });
    [watched, late] = [0, 0];
    return text;
}
