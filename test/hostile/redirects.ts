import { type Asked, type Behaviour, OK, row, whole } from './behaviour.ts';

const CODE = 'UPSTREAM_REDIRECT';

/** Redirects to `location`. */
function to(location: string | ((asked: Asked) => string), status = 302): Behaviour['serve'] {
    return (asked) => {
        const where = typeof location === 'string' ? location : location(asked);
        asked.socket.write(whole(`HTTP/1.1 ${status} Found\r\nLocation: ${where}\r\n`, ''));
    };
}

/** This many redirects, then a response. */
function hops(count: number, status = 302): Behaviour['serve'] {
    return (asked) => (asked.turn > count ? void asked.socket.write(whole(OK, '{}')) : to(`?${asked.turn}`, status)(asked));
}

/** The parser of URLs takes 70 ms for a host of these. As bytes in UTF-8. */
const LETTERS = Buffer.from(Array.from({ length: 5000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('')).toString('latin1');

const repeats = (requests: number) => ({ requests, write: { requests } });

/** Five redirects are followed, on the site. A write is never sent again. */
export const REDIRECTS: readonly Behaviour[] = [
    row('redirects five times', hops(5), 'success', repeats(6)),
    row('redirects six times', hops(6), CODE, repeats(6)),
    row('always redirects to itself', to(''), 'UPSTREAM_STATUS'),
    row('redirects in a circle', to('?again'), CODE, repeats(6)),
    row('answers 303 and then the page', hops(1, 303), 'success', repeats(2)),
    row('answers 307', hops(1, 307), 'success', { requests: 2, write: { code: CODE, requests: 1 } }),
    row('answers 308', hops(1, 308), 'success', { requests: 2, write: { code: CODE, requests: 1 } }),
    row('redirects without a Location', ({ socket }) => void socket.write(whole('HTTP/1.1 302 Found\r\n', '')), 'UPSTREAM_STATUS'),
    row('redirects to another site', to('https://elsewhere.test/'), CODE),
    row('redirects to another site by two slashes', to('//elsewhere.test/'), CODE),
    row(
        'redirects to an address',
        to(({ here }) => `http://127.0.0.1:${here.port}/`),
        CODE,
    ),
    row('redirects to the metadata service', to('http://169.254.169.254/latest/meta-data/'), CODE),
    row(
        'redirects to a URL with user info',
        to(({ here }) => `http://me:secret@${here.host}:${here.port}/`),
        CODE,
    ),
    row('redirects to an invalid URL', to('http://[::1'), CODE),
    row('redirects to a host of thousands of letters', to(`//${LETTERS}/`), CODE),
    row('redirects to a script', to('javascript:alert(1)'), CODE),
    row('redirects to a file', to('file:///etc/passwd'), CODE),
    row(
        'redirects to a forbidden port',
        to(({ here }) => `http://${here.host}:1/`),
        'EGRESS_DENIED',
    ),
    row(
        'redirects to plain http',
        to(({ here }) => `http://${here.host}/`),
        'EGRESS_DENIED',
    ),
    row(
        'redirects from https to plain http',
        to(({ here }) => `http://${here.host}/`),
        'EGRESS_DENIED',
        {
            place: { kind: 'tls', certificate: 'good' },
        },
    ),
    row(
        'redirects to a name of its own with a private address',
        to(({ here }) => `http://inside.${here.host}:${here.port}/`),
        'EGRESS_DENIED',
    ),
];
