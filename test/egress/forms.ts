import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { EgressDenied } from '../../workers/egress.ts';
import type { Answer } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { type Bench, encodePlace, REBOUND, SHOP, TURNS } from './bench.ts';
import { BAD_ADDRESSES, BAD_TEMPLATES, ELSEWHERE, FORBIDDEN_HERE, HOST_FORMS, STEERING_VALUES } from './spellings.ts';

/** One attempt to reach a forbidden address. */
export interface Form {
    name: string;
    /** What went wrong, as sentences. */
    run(bench: Bench): Promise<string[]>;
}

const GOOD = 'http://shop.test:{good}';
const TO = { name: 'to', source: 'query', required: true } as const;

/** The endpoints that the forms call, on a shop and on a site whose names resolve to anything. */
export function packagesOf(bench: Bench): Record<string, PackageEndpoint[]> {
    const endpoint = (name: string, url: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint => ({
        name,
        method: 'GET',
        url: bench.at(url),
        ...more,
    });
    const page: Partial<PackageEndpoint> = { response: { select: { items: 'items' } } };
    return {
        [SHOP]: [
            endpoint('go', `${GOOD}/go`, { params: [TO] }),
            endpoint('list', `${GOOD}/list`, { kind: 'paginate', params: [TO], ...page, pagination: { style: 'link' } }),
            endpoint('path', `${GOOD}/a/{id}/b`, { params: [{ name: 'id', source: 'path', required: true }] }),
            endpoint('query', `${GOOD}/a/b?own={id}`, { params: [{ name: 'id', source: 'path', required: true }] }),
            ...ELSEWHERE_URLS.map((to, index) =>
                endpoint(`form_${index}`, `${GOOD}/never`, {
                    kind: 'submit_form',
                    method: 'POST',
                    prepare: { url: bench.at(`${GOOD}/form?to=${encodePlace(bench.at(to))}`), form: '#f' },
                }),
            ),
        ],
        [REBOUND]: [
            ...ANSWERS.map((_, index) => endpoint(`answer_${index}`, placeOf(index))),
            ...BAD_ADDRESSES.map((_, index) =>
                endpoint(`prepared_${index}`, `http://${TURNS}:{good}/fine`, { prepare: { url: bench.at(placeOf(index)) } }),
            ),
            endpoint('go', `http://${TURNS}:{good}/go`, { params: [TO] }),
            endpoint('busy', `http://${TURNS}:{good}/busy`),
            endpoint('list', `http://${TURNS}:{good}/list`, { kind: 'paginate', params: [TO], ...page, pagination: { style: 'link' } }),
            endpoint('prepared', `http://${TURNS}:{good}/fine`, { prepare: { url: bench.at(`http://${TURNS}:{good}/door`) } }),
        ],
    };
}

/** A next page and a form's action that are not URLs lead nowhere. */
const ELSEWHERE_URLS = ELSEWHERE.filter((to) => URL.canParse(to.replaceAll(/\{\w+\}/g, '1'), 'http://shop.test/'));

/** Complete responses of a name server: one bad address, or a bad one beside public ones. */
const ANSWERS: readonly (readonly string[])[] = [
    ...BAD_ADDRESSES.map((address) => [address]),
    ...BAD_ADDRESSES.filter((_, index) => index % 3 === 0).flatMap((address) => [
        ['93.184.215.14', address],
        [address, '2606:4700:4700::1111'],
    ]),
];

/** Half of them by https, the others on the port of the forbidden listener. */
const placeOf = (index: number) => (index % 2 === 0 ? `https://d${index}.rebound.test/` : `http://d${index}.rebound.test:{forbidden}/`);

export const FORMS: readonly Form[] = [
    ...ANSWERS.map(answerForm),
    ...BAD_ADDRESSES.flatMap(ledForms),
    ...[...HOST_FORMS.map((host) => `http://${host}:{forbidden}/`), ...ELSEWHERE].map((to) =>
        placeForm('a redirect to', 'go', to, 'UPSTREAM_REDIRECT'),
    ),
    ...ELSEWHERE_URLS.map((to) => placeForm('a next page at', 'list', to, 'UPSTREAM_REDIRECT')),
    ...ELSEWHERE_URLS.map(submitForm),
    ...FORBIDDEN_HERE.map((to) => placeForm('a redirect to', 'go', to, 'EGRESS_DENIED')),
    ...BAD_TEMPLATES.map(templateForm),
    ...ELSEWHERE.map(prepareForm),
    ...STEERING_VALUES.flatMap((value) => [valueForm('path', value), valueForm('query', value)]),
    ...HOST_FORMS.map(dialForm),
    ...rebindingForms(),
];

async function check(bench: Bench, expected: string, act: () => Promise<Answer>): Promise<string[]> {
    bench.trespasses();
    const { status, body } = await act();
    const faults = bench.trespasses();
    const code = codeOf({ status, body, headers: new Headers() }) ?? 'success';
    if (code !== expected) faults.push(`the answer is ${code}, not ${expected}`);
    if (status === 500) faults.push('the answer is 500');
    const { credits_used: used = 0 } = (body['meta'] ?? {}) as { credits_used?: number };
    if (used !== 0) faults.push(`${used} credits were used`);
    return faults;
}

function answerForm(addresses: readonly string[], index: number): Form {
    return {
        name: `a name that leads to ${addresses.join(' and ')}`,
        run(bench) {
            bench.answers.set(`d${index}.rebound.test`, addresses);
            return check(bench, 'EGRESS_DENIED', () => bench.call(REBOUND, `answer_${index}`));
        },
    };
}

/** During a call, a name appears that resolves to this address. */
function ledForms(address: string, index: number): Form[] {
    const led = 'http://led.shop.test:{forbidden}/';
    const denied = (what: string, act: (bench: Bench) => Promise<Answer>): Form => ({
        name: `${what} a name that leads to ${address}`,
        run(bench) {
            bench.answers.set('led.shop.test', [address]);
            bench.answers.set(`d${index}.rebound.test`, [address]);
            return check(bench, 'EGRESS_DENIED', () => act(bench));
        },
    });
    const nextPage = denied('a next page on', (bench) => bench.call(SHOP, 'list', { to: encodePlace(bench.at(led)) }));
    return [
        denied('a redirect to', (bench) => bench.call(SHOP, 'go', { to: encodePlace(bench.at(led)) })),
        denied('a page to prepare on', (bench) => bench.call(REBOUND, `prepared_${index}`)),
        ...(index % 3 === 0 ? [nextPage] : []),
    ];
}

/** The good site redirects us to a place. */
function placeForm(what: string, endpoint: string, to: string, code: string): Form {
    return {
        name: `${what} ${to}`,
        run: (bench) => check(bench, code, () => bench.call(SHOP, endpoint, { to: encodePlace(bench.at(to)) })),
    };
}

function submitForm(to: string, index: number): Form {
    return {
        name: `a form whose action is ${to}`,
        run: (bench) => check(bench, 'UPSTREAM_REDIRECT', () => bench.call(SHOP, `form_${index}`)),
    };
}

function templateForm(url: string): Form {
    const params: PackageEndpoint['params'] = url.includes('{id}') ? [{ name: 'id', source: 'path', required: true }] : [];
    return { name: `a package whose URL is ${url}`, run: (bench) => isRefused(bench, { url, params }) };
}

function prepareForm(to: string): Form {
    return {
        name: `a package whose page to prepare is ${to}`,
        run: (bench) => isRefused(bench, { url: 'https://shop.test/', prepare: { url: bench.at(to) } }),
    };
}

async function isRefused(bench: Bench, endpoint: Partial<PackageEndpoint> & { url: string }): Promise<string[]> {
    const faults = await check(bench, 'SCHEMA_INVALID', () => bench.publish(SHOP, [{ name: 'x', method: 'GET', ...endpoint }]));
    const { rows } = await bench.world.app.db.raw<{ rows: { versions: number }[] }>('select versions from sites where site = ?', [SHOP]);
    return rows[0]?.versions === 1 ? faults : [...faults, 'it was stored'];
}

/** It is refused, or it is one value in its own place and changes nothing else. */
function valueForm(place: 'path' | 'query', value: string): Form {
    return {
        name: `a value in the ${place} that is ${value}`,
        async run(bench) {
            bench.trespasses();
            bench.good.seen.length = 0;
            const answer = await bench.call(SHOP, place, { id: bench.at(value) });
            const faults = bench.trespasses();
            const code = codeOf(answer) ?? 'success';
            const [seen] = bench.good.seen;
            if (code !== 'success') {
                if (code !== 'INVALID_PARAMS' && code !== 'VALIDATION_ERROR') faults.push(`the answer is ${code}`);
                if (seen !== undefined) faults.push('it was refused and sent');
                return faults;
            }
            const { pathname, searchParams } = new URL(seen?.path ?? '/', 'http://x');
            if (seen?.headers.host !== bench.at('shop.test:{good}')) faults.push(`the host was ${seen?.headers.host}`);
            const segments = pathname.split('/').map(decodeURIComponent);
            const should = place === 'path' ? ['', 'a', bench.at(value), 'b'] : ['', 'a', 'b'];
            if (JSON.stringify(segments) !== JSON.stringify(should)) faults.push(`the path was ${seen?.path}`);
            const own = place === 'path' ? [] : [['own', bench.at(value)]];
            if (JSON.stringify([...searchParams]) !== JSON.stringify(own)) faults.push(`the query was ${seen?.path}`);
            return faults;
        },
    };
}

/** Calls the connector directly, without the earlier checks of the URL. */
function dialForm(host: string): Form {
    return {
        name: `a dial to ${host}`,
        async run(bench) {
            const url = URL.parse(bench.at(`http://${host}:{forbidden}/`));
            if (url === null) return [];
            bench.trespasses();
            const target = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: bench.forbidden.port, scheme: 'http' } as const;
            const outcome = await bench.connector.connect(target).then(
                (socket) => {
                    socket.destroy();
                    return 'it was connected';
                },
                // Not every machine resolves each spelling of localhost, but none may be connected to.
                (error: NodeJS.ErrnoException) =>
                    error instanceof EgressDenied || error.code?.startsWith('E') ? undefined : String(error),
            );
            return [...bench.trespasses(), ...(outcome === undefined ? [] : [outcome])];
        },
    };
}

/** A name that resolves to the site first, and to an inner address when the same call looks it up again. */
function rebindingForms(): Form[] {
    const here = (path: string) => `http://${TURNS}:{good}${path}`;
    const cases: [name: string, endpoint: string, params: Record<string, string>, turns: number, code: string][] = [
        ['a redirect to itself', 'go', { to: here('/fine') }, 1, 'EGRESS_DENIED'],
        ['a relative redirect', 'go', { to: '/fine' }, 1, 'EGRESS_DENIED'],
        ['another try', 'busy', {}, 1, 'EGRESS_DENIED'],
        ['the third try', 'busy', {}, 2, 'EGRESS_DENIED'],
        ['its next page', 'list', { to: here('/fine') }, 1, 'EGRESS_DENIED'],
        ['the request that it prepared', 'prepared', {}, 1, 'EGRESS_DENIED'],
    ];
    const inside = ['127.0.0.2', '10.0.0.1', '169.254.169.254', '::1'];
    return cases.flatMap(([name, endpoint, params, turns, code]) =>
        inside.map((address) => ({
            name: `a name that turns to ${address} before ${name}`,
            run(bench: Bench) {
                const first = Array.from({ length: turns }, () => ['127.0.0.1']);
                bench.answers.inTurn(TURNS, ...first, [address], [address], [address]);
                const given = Object.fromEntries(Object.entries(params).map(([key, to]) => [key, encodePlace(bench.at(to))]));
                return check(bench, code, () => bench.call(REBOUND, endpoint, given));
            },
        })),
    );
}
