import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of an application on Supabase, from its documents: tables and functions by PostgREST, with filters in the names and values of the
 * query, storage, edge functions, and sessions of its auth.
 */
const KEY = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJvbGUiOiJhbm9uIn0.c2lnbmF0dXJlLW9mLWEtbW9kZWw';
const headers = { apikey: KEY, authorization: `Bearer ${KEY}`, 'x-client-info': 'supabase-js-web/2.58.0', 'accept-profile': 'public' };
const ids = ['7d1c9a30-53f2-4c5e-9d0e-3a1f0c2b4d5e', '1f0e2d3c-4b5a-4978-8c6d-5e4f3a2b1c0d', 'a0b1c2d3-e4f5-4061-b728-394a5b6c7d8e'];
const boat = (id: number) => ({
    id,
    name: `Boat ${id}`,
    length: 8 + id,
    harbour: 'north',
    built_at: '2019-04-03',
    owner_id: ids[id % 3],
    created_at: '2026-02-03T10:11:12.345+00:00',
});
const voyage = (id: number) => ({
    id: ids[id],
    boat_id: id,
    left_at: '2026-05-06T07:08:09+00:00',
    miles: 12.5 * (id + 1),
    note: null,
    boats: { name: `Boat ${id}` },
});
const profile = (id: number) => ({
    id: ids[id],
    username: `keeper${id}`,
    avatar_url: null,
    website: null,
    updated_at: '2026-05-06T07:08:09+00:00',
});
const rest = (ask: string, answer: object | string, sent?: object, more: Record<string, string> = {}): Call => {
    const [method = '', path = ''] = ask.split(' ');
    return {
        ask: `${method} /rest/v1/${path}`,
        headers: { ...headers, ...more },
        answer,
        ...(answer === '' ? { status: method === 'HEAD' ? 200 : 204 } : {}),
        ...(sent === undefined ? {} : { sent }),
    };
};
const own = (ask: string, answer: object, sent?: object): Call => ({ ask, headers, answer, ...(sent === undefined ? {} : { sent }) });
const one = { accept: 'application/vnd.pgrst.object+json' };
const back = { prefer: 'return=representation' };

const calls: Call[] = [
    {
        ask: 'GET /',
        answer: pageWith(
            'Harbour book',
            '<p>Boats, voyages and the people who keep them, at one place.</p><div id="root"></div><script>0</script>',
        ),
    },
    own(
        'POST /auth/v1/token?grant_type=password',
        {
            access_token: KEY,
            token_type: 'bearer',
            expires_in: 3600,
            refresh_token: 'v1MxYzQ2ZDk4Nzg3',
            user: { id: ids[0], email: 'keeper@harbour.example' },
        },
        { email: 'keeper@harbour.example', password: 'Leuchtfeuer-4471', gotrue_meta_security: {} },
    ),
    own('GET /auth/v1/user', { id: ids[0], aud: 'authenticated', role: 'authenticated', email: 'keeper@harbour.example' }),
    rest('GET boats?select=*', [1, 2, 3].map(boat)),
    rest('GET boats?select=id%2Cname%2Clength&order=name.asc&limit=2&offset=0', [1, 2].map(boat)),
    rest('GET boats?select=id%2Cname%2Clength&order=name.asc&limit=2&offset=2', [3, 4].map(boat)),
    rest('GET boats?select=*&length=gte.10&harbour=eq.north&order=length.desc', [3, 4].map(boat)),
    rest('GET boats?select=*&or=(name.ilike.*tide*%2Charbour.eq.south)', [boat(4)]),
    ...[1, 2, 3].map((id) => rest(`GET boats?select=*%2Cvoyages(id%2Cmiles)&id=eq.${id}`, { ...boat(id), voyages: [] }, undefined, one)),
    rest('HEAD boats?select=*', '', undefined, { prefer: 'count=exact' }),
    rest('HEAD boats?select=*&harbour=eq.north', '', undefined, { prefer: 'count=exact' }),
    rest('POST boats?select=*', boat(5), { name: 'Boat 5', length: 13, harbour: 'north' }, { ...one, ...back }),
    rest('POST boats?select=*', boat(6), { name: 'Boat 6', length: 14, harbour: 'south' }, { ...one, ...back }),
    rest('PATCH boats?id=eq.5&select=*', [boat(5)], { length: 13.5 }, back),
    rest('PATCH boats?id=eq.6', '', { harbour: 'north' }),
    rest('DELETE boats?id=eq.6', ''),
    rest('GET voyages?select=*%2Cboats(name)&boat_id=eq.1&order=left_at.desc', [0, 1].map(voyage)),
    rest('GET voyages?select=*%2Cboats(name)&boat_id=eq.2&order=left_at.desc&limit=1', [2].map(voyage)),
    rest(`GET voyages?select=*&id=in.(${ids[0]}%2C${ids[1]})`, [0, 1].map(voyage)),
    rest('POST voyages?columns=%22boat_id%22%2C%22miles%22', '', [
        { boat_id: 1, miles: 4 },
        { boat_id: 2, miles: 5.5 },
    ]),
    rest('POST voyages?columns=%22boat_id%22%2C%22miles%22', '', [{ boat_id: 3, miles: 7 }]),
    rest(`DELETE voyages?id=eq.${ids[2]}`, ''),
    ...[0, 1].map((id) => rest(`GET profiles?select=username%2Cwebsite%2Cavatar_url&id=eq.${ids[id]}`, profile(id), undefined, one)),
    rest(
        'POST profiles?on_conflict=id',
        '',
        { id: ids[0], username: 'keeper0', website: 'https://harbour.example' },
        { prefer: 'resolution=merge-duplicates' },
    ),
    rest('POST rpc/nearby_boats', [1, 2].map(boat), { lat: 54.18, long: 7.88 }),
    rest('POST rpc/nearby_boats', [3].map(boat), { lat: 53.55, long: 9.99 }),
    rest('POST rpc/sum_of_miles', 148.5 as unknown as object, { of_boat: 1 }),
    rest('POST rpc/sum_of_miles', 23 as unknown as object, { of_boat: 2 }),
    rest('GET rpc/harbours', ['north', 'south']),
    own(
        'POST /storage/v1/object/list/photos',
        [{ name: 'bow.png', id: ids[0], updated_at: '2026-02-03T10:11:12Z', metadata: { size: 1024, mimetype: 'image/png' } }],
        { prefix: 'boats/1', limit: 100, offset: 0, sortBy: { column: 'name', order: 'asc' } },
    ),
    own(
        'POST /storage/v1/object/list/charts',
        [{ name: 'bay.pdf', id: ids[1], updated_at: '2026-02-03T10:11:12Z', metadata: { size: 2048, mimetype: 'application/pdf' } }],
        { prefix: '', limit: 100, offset: 0, sortBy: { column: 'name', order: 'asc' } },
    ),
    own('POST /storage/v1/object/sign/charts/bay.pdf', { signedURL: '/object/sign/charts/bay.pdf?token=abc' }, { expiresIn: 60 }),
    own('POST /storage/v1/object/sign/charts/old/pier.pdf', { signedURL: '/object/sign/charts/old/pier.pdf?token=abc' }, { expiresIn: 60 }),
    own('DELETE /storage/v1/object/photos', [{ name: 'boats/1/stern.png' }], { prefixes: ['boats/1/stern.png'] }),
    own('POST /functions/v1/tide-table', { high: ['04:12', '16:40'] }, { harbour: 'north', day: '2026-06-01' }),
    own('POST /functions/v1/tide-table', { high: ['05:02', '17:31'] }, { harbour: 'south', day: '2026-06-02' }),
    own('POST /functions/v1/send-postcard', { sent: true }, { to: 'keeper1', text: 'All lights are lit' }),
    own(
        'POST /auth/v1/token?grant_type=refresh_token',
        { access_token: KEY, token_type: 'bearer', expires_in: 3600, refresh_token: 'v1MxYzQ2ZDk4Nzg3', user: { id: ids[0] } },
        { refresh_token: 'v1MxYzQ2ZDk4Nzg3' },
    ),
    own('POST /auth/v1/logout?scope=global', '' as unknown as object),
];

export const application = modelled('model-tables', 'harbour-book.test', calls);
