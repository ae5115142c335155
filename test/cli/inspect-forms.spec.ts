import { expect } from 'chai';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { type Call, endpointOf, inspectCalls, routesOf, SHOP } from './inspect/har.ts';

const TOKEN = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const page = (inside: string) => `<!doctype html><html><head><title>Harbour</title></head><body><main>${inside}</main></body></html>`;
const hidden = (values: Record<string, string>) =>
    Object.entries(values)
        .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
        .join('');
const form = (action: string, inside: string) =>
    `<form method="post" action="${action}">${inside}<input type="submit" value="Send"></form>`;
const see = (path: string, inside: string): Call => ({ url: SHOP + path, html: page(inside) });
const send = (path: string, fields: Record<string, string>): Call => ({
    method: 'POST',
    url: SHOP + path,
    form: fields,
    html: page('<p>Done.</p>'),
});
const inBody = ({ params = [] }: PackageEndpoint) => params.filter(({ source }) => source === 'body').map(({ name }) => name);

describe('routebook inspect reads forms', () => {
    it('makes an endpoint of each form of one address, with what each sent and the fields that it left out', async () => {
        const search = form('/wiki.cgi', '<input name="words">');
        const edit = form(
            '/wiki.cgi',
            '<textarea name="story"></textarea><input name="summary"><input type="checkbox" name="minor"><select name="place"><option>pier</option></select>',
        );
        const found = await inspectCalls([
            see('/notes/new', search + edit),
            send('/wiki.cgi', { words: 'fog' }),
            send('/wiki.cgi', { story: 'Fog at dawn', summary: 'Seen', place: 'pier' }),
        ]);
        const posts = found.package.endpoints.filter(({ method }) => method === 'POST');
        expect(posts.map((one) => inBody(one).sort())).to.have.deep.members([['words'], ['minor', 'place', 'story', 'summary']]);
    });

    it('asks the caller for hidden inputs that the address of the page says, and takes the token from a page of one address', async () => {
        const channel = (name: string) =>
            form('/admin/channel', `${hidden({ csrf: TOKEN, submitted: '1', network: 'pier', name })}<input name="size">`);
        const found = await inspectCalls([
            see('/admin/channel?network=pier&name=fog', channel('fog')),
            see('/admin/channel?network=pier&name=tides', channel('tides')),
            see('/notes/', form('/notes/add', `${hidden({ csrf: TOKEN })}<textarea name="text"></textarea>`)),
        ]);
        const endpoint = endpointOf(found, 'POST /admin/channel');
        expect(inBody(endpoint)).to.deep.equal(['network', 'name', 'size']);
        expect(endpoint).to.deep.include({
            prepare: { url: `${SHOP}/notes/`, extract: { csrf: { selector: 'input[name="csrf"]', value: 'value' } } },
            body: { network: '{network}', name: '{name}', size: '{size}', csrf: '{prepare.csrf}', submitted: '1' },
        });
        expect(JSON.stringify(endpoint)).not.to.match(/pier|fog|tides/);
    });

    it('opens no page of a wiki without the name of the page that a form is about', async () => {
        const comment = (name: string) =>
            form('/wiki.cgi', `${hidden({ do: 'comment', sid: TOKEN, page: name })}<textarea name="text"></textarea>`);
        const found = await inspectCalls(
            ['journal/first_light', 'journal/calm_noon'].flatMap((name) => [
                see(`/wiki.cgi?do=comment&page=${name}`, comment(name)),
                send('/wiki.cgi', { do: 'comment', sid: TOKEN, page: name, text: 'Seen' }),
            ]),
        );
        const endpoint = endpointOf(found, 'POST /wiki.cgi');
        expect(inBody(endpoint)).to.have.members(['page', 'text']);
        expect(endpoint.prepare).to.equal(undefined);
        expect(endpoint.body).to.deep.include({ do: 'comment', page: '{page}' });
    });

    it('asks the caller which item is meant, if a page has the form beside each of them', async () => {
        const row = (job: number) => form('/jobs/', `${hidden({ 'shop.sid': `b${job}c4e8a1`, act: 'cancel', job: String(job) })}`);
        const found = await inspectCalls([
            see('/jobs/', row(1)),
            see('/jobs/', row(1) + row(2) + row(3)),
            send('/jobs/', { act: 'cancel', job: '1' }),
        ]);
        const endpoint = endpointOf(found, 'POST /jobs/');
        expect(inBody(endpoint)).to.deep.equal(['job']);
        expect(endpoint.body).to.deep.equal({ job: '{job}', act: '{prepare.act}', 'shop.sid': '{prepare.shop_sid}' });
        expect(endpoint.params?.[0]?.description).to.include('A hidden input of the form');
    });

    it('finds the inputs of a form that stands between the rows of a table, where HTML has no room for it', async () => {
        const row =
            '<tr><form method="post" action="/ports/add"><td><input name="port"></td><td><input name="host"><input type="submit"></td></form></tr>';
        const found = await inspectCalls([
            see('/ports', `<table><tbody>${row}<tr><td>no form</td></tr></tbody></table><input name="other">`),
        ]);
        expect(inBody(endpointOf(found, 'POST /ports/add'))).to.deep.equal(['port', 'host']);
    });

    it('leaves out a form that nobody sent and that each page sends to itself', async () => {
        const languages =
            '<form method="post"><select name="lang"><option>de</option><option>en</option></select><input type="submit"></form>';
        const paths = ['/boats', '/ropes', '/lamps', '/tides'];
        const found = await inspectCalls(paths.map((path) => see(path, `<h1>${path}</h1>${languages}${form(`${path}/drop`, '')}`)));
        expect(routesOf(found).filter((route) => route.startsWith('POST'))).to.deep.equal(paths.map((path) => `POST ${path}/drop`));
    });

    it('takes a word for a value that was sent as the param which the segment before it names', async () => {
        const found = await inspectCalls([
            see('/admin/edit?network=harbour', '<h1>Edit</h1>'),
            see('/mods/network/harbour/sticky/', '<h1>Sticky</h1><p>Long enough to be read.</p>'),
        ]);
        expect(routesOf(found)).to.include('GET /mods/network/{network}/sticky/');
    });
});
