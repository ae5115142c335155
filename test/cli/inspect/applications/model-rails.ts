import { type Call, modelled, pageWith } from '../modelled.ts';

/** A model of a site of Ruby on Rails, from its guides and those of Turbo, Ransack and FriendlyId: pages with twins in JSON, forms with methods, frames. */
const BOATS = ['sea-rose', 'old-gull', 'north-star'];
const TOKEN = 'kq3vXw8rT1mZ5nB7cD9fG2hJ4kL6pQ0sU-vYxA_bEoI';
const MENU = '<nav><a href="/boats">Boats</a> <a href="/harbours">Harbours</a> <a href="/about">About</a></nav>';
const page = (title: string, main: string) =>
    pageWith(
        `${title} | Boathouse`,
        main,
        `<meta name="csrf-param" content="authenticity_token"><meta name="csrf-token" content="${TOKEN}">${MENU}`,
    );
const search =
    '<form class="boat_search" action="/boats" accept-charset="UTF-8" method="get"><label for="q_name">Name contains</label><input id="q_name" type="search" name="q[name_cont]"><label for="q_len">At least this long</label><input id="q_len" type="number" name="q[length_gteq]"><input type="submit" name="commit" value="Search"></form>';
const list = `${search}<div id="boats">${BOATS.map((boat, place) => `<div class="boat" id="boat_${place + 1}"><h2><a href="/boats/${boat}">Boat ${place}</a></h2><span class="length">${9 + place} m</span></div>`).join('')}</div><nav class="pagination"><a rel="next" href="/boats?page=2">Next</a></nav>`;
const boatForm = (action: string, method = '') =>
    `<form action="${action}" accept-charset="UTF-8" method="post">${method}<input type="hidden" name="authenticity_token" value="${TOKEN}"><label for="n">Name</label><input id="n" name="boat[name]" required><label for="l">Length</label><input id="l" type="number" name="boat[length]"><label for="h">Harbour</label><select id="h" name="boat[harbour_id]"><option value="1">North</option><option value="2">South</option></select><input type="submit" name="commit" value="Save"></form>`;
const patch = '<input type="hidden" name="_method" value="patch">';
const remove = (at: string) =>
    `<form class="button_to" method="post" action="${at}"><input type="hidden" name="_method" value="delete"><button>Delete</button><input type="hidden" name="authenticity_token" value="${TOKEN}"></form>`;
const comment = (at: string) =>
    `<form action="${at}/comments" method="post"><input type="hidden" name="authenticity_token" value="${TOKEN}"><label for="c">Your comment</label><textarea id="c" name="comment[body]"></textarea><input type="submit" name="commit" value="Comment"></form>`;
const boat = (place: number) => ({
    id: place + 1,
    slug: BOATS[place],
    name: `Boat ${place}`,
    length: 9.5 + place,
    harbour_id: 1,
    url: `http://boats.test/boats/${BOATS[place]}.json`,
    created_at: '2026-11-01T10:00:00.000Z',
});
const frame = (id: string, main: string) => `<turbo-frame id="${id}">${main}</turbo-frame>`;
const sent = (pairs: Record<string, string>) => new URLSearchParams({ authenticity_token: TOKEN, ...pairs }).toString();
const stream = '<turbo-stream action="append" target="comments"><template><div class="comment">Nice</div></template></turbo-stream>';
const calls: Call[] = [
    { ask: 'GET /', answer: page('Boats of the harbour', list) },
    { ask: 'GET /boats', answer: page('Boats', list) },
    { ask: 'GET /boats?page=2', answer: page('Boats', list) },
    { ask: 'GET /boats?q%5Bname_cont%5D=ros&q%5Blength_gteq%5D=&commit=Search', answer: page('Boats', list) },
    { ask: 'GET /boats?q%5Bs%5D=name+asc', answer: page('Boats', list) },
    ...[1, 2].map((at): Call => ({ ask: `GET /boats.json?page=${at}`, answer: BOATS.map((_, place) => boat(place)) })),
    { ask: 'GET /boats.csv', answer: 'id,name,length\n1,Sea rose,9.5\n2,Old gull,10.5\n', type: 'text/csv' },
    ...BOATS.map(
        (one, place): Call => ({
            ask: `GET /boats/${one}`,
            answer: page(
                `Boat ${place}`,
                `<p class="about">A boat of oak with two masts and a red sail, built by hand.</p><dl><dt>Length</dt><dd>9 m</dd></dl>${remove(`/boats/${one}`)}${comment(`/boats/${one}`)}`,
            ),
        }),
    ),
    ...[0, 1].map((place): Call => ({ ask: `GET /boats/${BOATS[place]}.json`, answer: boat(place) })),
    ...[0, 1].map(
        (place): Call => ({
            ask: `GET /boats/${BOATS[place]}/voyages?page=1`,
            headers: { 'turbo-frame': 'voyages' },
            answer: frame(
                'voyages',
                '<ul><li><a href="/voyages/31">To the north</a></li><li><a href="/voyages/32">To the south</a></li></ul>',
            ),
        }),
    ),
    ...[31, 32].map(
        (id): Call => ({
            ask: `GET /voyages/${id}`,
            answer: page('A voyage', '<p>From the harbour to the lighthouse and back before the night.</p>'),
        }),
    ),
    { ask: 'GET /boats/new', answer: page('New boat', boatForm('/boats')) },
    {
        ask: 'POST /boats',
        sent: sent({ 'boat[name]': 'Kelp', 'boat[length]': '7', 'boat[harbour_id]': '1', commit: 'Save' }),
        answer: '',
        status: 302,
    },
    { ask: `GET /boats/${BOATS[0]}/edit`, answer: page('Edit boat', boatForm(`/boats/${BOATS[0]}`, patch)) },
    {
        ask: `POST /boats/${BOATS[0]}`,
        sent: sent({ _method: 'patch', 'boat[name]': 'Rose', 'boat[length]': '9', 'boat[harbour_id]': '2', commit: 'Save' }),
        answer: '',
        status: 302,
    },
    { ask: `POST /boats/${BOATS[2]}`, sent: sent({ _method: 'delete' }), answer: '', status: 302 },
    ...[0, 1].map(
        (place): Call => ({
            ask: `POST /boats/${BOATS[place]}/comments`,
            sent: sent({ 'comment[body]': 'Nice', commit: 'Comment' }),
            headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/vnd.turbo-stream.html, text/html' },
            answer: stream,
            type: 'text/vnd.turbo-stream.html; charset=utf-8',
        }),
    ),
    ...['se', 'sea'].map(
        (term): Call => ({ ask: `GET /boats/autocomplete?term=${term}`, answer: [{ id: 1, label: 'Sea rose', value: 'Sea rose' }] }),
    ),
    {
        ask: 'GET /harbours',
        answer: page(
            'Harbours',
            '<ul class="harbours"><li><a href="/harbours/1">North</a></li><li><a href="/harbours/2">South</a></li></ul>',
        ),
    },
    { ask: 'GET /harbours/1', answer: page('North', '<p>The harbour in the north, behind the rocks and the lighthouse.</p>') },
    { ask: 'GET /harbours/2.json', answer: { id: 2, name: 'South', boats_count: 12 } },
    { ask: 'GET /tags/brass', answer: page('Brass', list) },
    { ask: 'GET /users/ada', answer: page('ada', '<p>Ada has two boats and writes about ropes and knots here.</p>') },
    { ask: 'GET /about', answer: page('About', '<p>A house of boats, for all who sail along this coast of ours.</p>') },
];

export const application = modelled('model-rails', 'boats.test', calls);
