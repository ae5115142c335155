import { type Behaviour, OK, row, send, whole } from './behaviour.ts';

const says = (line: string, headers = '') => send(whole(`HTTP/1.1 ${line}\r\n${headers}`, 'no'));
const limits = (retryAfter: string) => says('429 Slow', retryAfter === '' ? '' : `Retry-After: ${retryAfter}\r\n`);
const CODE = 'UPSTREAM_STATUS';
const LIMITED = 'UPSTREAM_RATE_LIMITED';
const WALL = '<html><title>Just a moment...</title><script src="/cdn-cgi/challenge-platform/h/b"></script></html>';

/** A final status that is not 2xx, rate limits, and bot challenges. */
export const STATUS: readonly Behaviour[] = [
    row('answers 404', says('404 Not Found'), CODE),
    row('answers 401', says('401 Who', 'WWW-Authenticate: Basic\r\n'), CODE),
    row('answers 500', says('500 Oops'), CODE),
    row('always answers 503', says('503 Busy'), CODE, { requests: 3 }),
    row('answers 304, unasked', send('HTTP/1.1 304 Not Modified\r\n\r\n'), CODE),
    row('answers 300 with a Location', says('300 Choices', 'Location: /x\r\n'), CODE),
    row('answers 999', says('999 Denied'), CODE),
    row('answers 502 once and then answers', onceThen('HTTP/1.1 502 Bad Gateway\r\n'), 'success', {
        requests: 2,
        write: { code: CODE },
    }),
    row('always answers 429, Retry-After 0', limits('0'), LIMITED, { requests: 3 }),
    row('answers 429 without Retry-After', limits(''), LIMITED, { requests: 3 }),
    row('answers 429 with an invalid Retry-After', limits('soon'), LIMITED, { requests: 3 }),
    row('answers 429 with a negative Retry-After', limits('-5'), LIMITED, { requests: 3 }),
    row('answers 429 with a Retry-After in the past', limits('Wed, 21 Oct 2015 07:28:00 GMT'), LIMITED, { requests: 3 }),
    row('answers 429 and asks for more time than the deadline leaves', limits('3600'), LIMITED),
    row('answers 429 and asks for more time than any number holds', limits('99999999999999999999'), LIMITED, { requests: 3 }),
    row('answers 429 once, Retry-After 1', onceThen('HTTP/1.1 429 Slow\r\nRetry-After: 1\r\n'), 'success', {
        requests: 2,
        time: { afterMs: 1000, words: 'when the pause that it asks for is over' },
        write: { code: LIMITED, time: 'at once' },
    }),
    row(
        'shows a bot challenge, with 403',
        send(whole('HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nServer: cloudflare\r\nCf-Mitigated: challenge\r\n', WALL)),
        'UPSTREAM_BLOCKED',
    ),
    row(
        'shows a bot challenge, with 200',
        send(whole('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: cloudflare\r\nCf-Mitigated: challenge\r\n', WALL)),
        'UPSTREAM_BLOCKED',
    ),
];

function onceThen(head: string): Behaviour['serve'] {
    return ({ socket, turn }) => void socket.write(turn === 1 ? whole(head, 'no') : whole(OK, '{}'));
}
