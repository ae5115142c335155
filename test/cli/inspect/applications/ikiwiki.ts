import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, type RecordedApplication } from '../starting.ts';
import { ask, links, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'ikiwiki',
    host: 'notes.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr');
        const perl = `${root}/share/perl5:${root}/lib/x86_64-linux-gnu/perl5/5.36`;
        for (const [name, text] of Object.entries(PAGES)) {
            mkdirSync(join(folder, 'src', name, '..'), { recursive: true });
            writeFileSync(join(folder, 'src', `${name}.mdwn`), text);
        }
        mkdirSync(join(folder, 'out/cgi-bin'), { recursive: true });
        writeFileSync(join(folder, 'server.mjs'), CGI_SERVER);
        writeFileSync(join(folder, 'harbour.setup'), setup(folder, port, root, perl));
        return `export PERL5LIB=${perl} LD_LIBRARY_PATH=${root}/lib/x86_64-linux-gnu
            ${root}/bin/ikiwiki --setup harbour.setup && exec ${process.execPath} server.mjs ${port} ${folder}/out`;
    },
};

/** Reads pages, tags, changes and a journal, and makes, previews, changes, comments, renames and removes pages. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/lamps/', '/ropes/', '/lamps/brass/', '/ropes/hemp/', '/journal/', '/journal/first_light/'])
        await open(page, base + path);
    for (const path of ['/journal/second_storm/', '/recentchanges/', '/tags/storm/', '/tags/hemp/', '/ikiwiki/formatting/'])
        await open(page, base + path);
    for (const path of ['/journal/index.rss', '/journal/index.atom', '/tags/storm/index.rss', '/recentchanges/index.rss'])
        await ask(page, 'GET', path);
    const program = `${base}/cgi-bin/ikiwiki.cgi`;
    for (const name of ['lamps', 'journal', 'ropes/hemp']) {
        await open(page, `${base}/${name}/`);
        for (const link of await links(page, /do=getsource/)) await ask(page, 'GET', link);
    }
    for (const name of ['lamps', 'ropes/hemp']) {
        await open(page, `${base}/${name}/`);
        const [edit = ''] = await links(page, /do=edit/);
        await open(page, edit);
        await page.fill('#editcontent', `All about ${name}, written anew. [[!tag storm]]`);
        await press(page, '#_submit_2');
        await press(page, 'input[name=_submit][value="Save Page"]');
    }
    for (const [name, from] of [
        ['boats', 'index'],
        ['oars', 'boats'],
    ]) {
        await open(page, `${program}?do=create&from=${from}&page=${name}`);
        await page.fill('#editcontent', `What is known of ${name}.`);
        await press(page, 'input[name=_submit][value="Save Page"]');
    }
    for (const title of ['Calm at noon', 'Fog at dusk']) {
        await open(page, `${base}/journal/`);
        await page.fill('form input[name=title]', title);
        await press(page, '.blogform input[type=submit], form[action$="ikiwiki.cgi"] input[type=submit]');
        await page.fill('#editcontent', `Seen from the pier: ${title}.`);
        await press(page, 'input[name=_submit][value="Save Page"]');
    }
    for (const post of ['first_light', 'second_storm']) {
        await open(page, `${program}?do=comment&page=journal/${post}`);
        await page.fill('input[name=subject]', `About ${post}`);
        await page.fill('#editcontent', 'I saw it as well.');
        await press(page, 'input[name=_submit][value="Post comment"]');
    }
    for (const name of ['lamps/hemp', 'ropes/brass']) {
        await open(page, `${program}?do=rename&page=${name}`);
        await page.fill('input[name=new_name]', `${name}_old`);
        await press(page, 'input[name=_submit][value="Rename"]');
    }
    for (const name of ['tags/brass', 'ropes/hemp']) {
        await open(page, `${program}?do=remove&page=${name}`);
        await press(page, '#confirm_submit, input[name=_submit]');
    }
    for (const name of ['ropes', 'journal']) await open(page, `${program}?do=goto&page=${name}`);
    await open(page, `${program}?do=prefs`);
    await page.close();
}

const PAGES: Readonly<Record<string, string>> = {
    index: 'Welcome to the [[lamps]] and [[ropes]] of the harbour. See the [[journal]].',
    lamps: 'All lamps:\n\n* [[brass|lamps/brass]]\n* [[hemp|lamps/hemp]]\n\n[[!map pages="lamps/*"]]',
    ropes: 'All ropes:\n\n* [[brass|ropes/brass]]\n* [[hemp|ropes/hemp]]',
    'lamps/brass': 'The lamp of brass hangs at the pier. [[!tag brass]] Back to [[lamps]].',
    'lamps/hemp': 'A lamp with a wick of hemp. [[!tag hemp]] Back to [[lamps]].',
    'ropes/brass': 'Rings of brass hold this rope. [[!tag brass]] Back to [[ropes]].',
    'ropes/hemp': 'Twelve fathoms of hemp. [[!tag hemp]] Back to [[ropes]].',
    journal: '[[!inline pages="page(journal/*) and !*/Discussion" show=10 rootpage="journal" postform=yes]]',
    'journal/first_light': '[[!meta title="First light"]] The sun came up over the pier. [[!tag storm]]',
    'journal/second_storm': '[[!meta title="Second storm"]] Waves of four metres. [[!tag storm]]',
    'tags/storm': '[[!inline pages="link(tags/storm)" actions=no]]',
};

const setup = (folder: string, port: number, root: string, perl: string) => `# IkiWiki::Setup::Yaml - YAML formatted setup file
wikiname: Harbour
srcdir: ${folder}/src
destdir: ${folder}/out
url: http://notes.test:${port}
cgiurl: http://notes.test:${port}/cgi-bin/ikiwiki.cgi
cgi_wrapper: ${folder}/out/cgi-bin/ikiwiki.cgi
underlaydir: ${root}/share/ikiwiki/basewiki
underlaydirbase: ${root}/share/ikiwiki
templatedir: ${root}/share/ikiwiki/templates
rss: 1
atom: 1
anonok_pagespec: '*'
tagbase: tags
comments_pagespec: 'journal/*'
add_plugins: [goodstuff, comments, anonok, httpauth, rename, remove, recentchanges, getsource, goto, map, orphans, brokenlinks]
disable_plugins: [openid, passwordauth, emailauth, loginselector]
ENV: {PERL5LIB: "${perl}", LD_LIBRARY_PATH: "${root}/lib/x86_64-linux-gnu"}
`;
