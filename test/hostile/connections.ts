import { type Behaviour, OK, row, send, sendAndEnd, whole } from './behaviour.ts';

const CODE = 'UPSTREAM_UNREACHABLE';
const NEVER = new Promise<never>(() => {});
const nothing = () => {};
const answers = send(whole(OK, '{}'));
const failing = (code: string) => () => Promise.reject(Object.assign(new Error('the name server says no'), { code }));

/** Failures before the first byte of a request: names, connections, certificates. Nothing was sent, so a write has the same result. */
export const CONNECTIONS: readonly Behaviour[] = [
    row('has a name server that never answers', nothing, 'DEADLINE_EXCEEDED', at('at the deadline', { kind: 'dns', lookup: () => NEVER })),
    row('has a name that does not exist', nothing, CODE, at('at once', { kind: 'dns', lookup: failing('ENOTFOUND') })),
    row('has a name server that fails', nothing, CODE, at('at once', { kind: 'dns', lookup: failing('EAI_AGAIN') })),
    row('has a name without an address', nothing, CODE, at('at once', { kind: 'dns', lookup: async () => [] })),
    row(
        'has a name that resolves to a private address',
        nothing,
        'EGRESS_DENIED',
        at('at once', { kind: 'dns', lookup: async () => ['10.0.0.1'] }),
    ),
    row(
        'has a name that resolves to the metadata service',
        nothing,
        'EGRESS_DENIED',
        at('at once', { kind: 'dns', lookup: async () => ['169.254.169.254'] }),
    ),
    row(
        'has a public and a private address',
        nothing,
        'EGRESS_DENIED',
        at('at once', { kind: 'dns', lookup: async () => ['93.184.215.14', '::1'] }),
    ),
    row('refuses connections', nothing, CODE, at('at once', { kind: 'refused' })),
    row('never accepts the connection', nothing, 'DEADLINE_EXCEEDED', at('at the deadline', { kind: 'deaf' })),
    row('never answers the TLS handshake', nothing, 'DEADLINE_EXCEEDED', at('at the deadline', { kind: 'not tls' })),
    row('speaks plain HTTP instead of TLS', send(whole(OK, '{}')), CODE, at('at once', { kind: 'not tls' })),
    row('closes during the TLS handshake', sendAndEnd(Buffer.from('160303', 'hex')), CODE, at('at once', { kind: 'not tls' })),
    row('has a self-signed certificate', answers, CODE, at('at once', { kind: 'tls', certificate: 'self-signed' })),
    row('has a certificate of an unknown authority', answers, CODE, at('at once', { kind: 'tls', certificate: 'unknown authority' })),
    row('has an expired certificate', answers, CODE, at('at once', { kind: 'tls', certificate: 'expired' })),
    row('has a certificate of another name', answers, CODE, at('at once', { kind: 'tls', certificate: 'wrong name' })),
    row('speaks no TLS newer than 1.1', answers, CODE, at('at once', { kind: 'tls', certificate: 'good', options: OLD_TLS() })),
    row(
        'speaks nothing but HTTP/2 over TLS',
        answers,
        CODE,
        at('at once', { kind: 'tls', certificate: 'good', options: { ALPNProtocols: ['h2'] } }),
    ),
    row('speaks TLS correctly', answers, 'success', { place: { kind: 'tls', certificate: 'good' } }),
];

function at(time: 'at once' | 'at the deadline', place: Behaviour['place']) {
    return { time, place, requests: 0 };
}

function OLD_TLS(): object {
    return { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
}
