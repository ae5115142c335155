import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'searx',
    host: 'find.test',
    ready: '/healthz',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root');
        writeFileSync(join(folder, 'engine.mjs'), ENGINE);
        writeFileSync(join(folder, 'settings.yml'), settings(`${root}/usr/share/python3-searx`, port));
        return `${END_ALL}
            ${process.execPath} engine.mjs ${port + 1000} &
            export SEARX_SETTINGS_PATH=${folder}/settings.yml PYTHONPATH=${root}/usr/lib/python3/dist-packages
            /usr/bin/python3 -m searx.webapp & wait $!`;
    },
};

/** Searches in several categories and times, turns pages, takes results as JSON, lines and a feed, and changes preferences. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.fill('#q', 'brass lamp');
    await send(page, '#q');
    for (const words of ['hemp rope', 'old boat']) {
        await page.fill('#q', words);
        await send(page, '#q');
    }
    await press(page, '#pagination .pull-right button');
    for (const part of ['categories=news', 'categories=science', 'categories=science&time_range=month', 'time_range=year&language=de'])
        await open(page, `${base}/search?q=harbour&${part}`);
    await open(page, `${base}/search?q=lighthouse&pageno=2&category_general=on`);
    for (const words of ['harbour', 'rope'])
        for (const format of ['json', 'rss', 'csv'])
            await ask(page, 'GET', `/search?q=${words}&categories=general&language=en&format=${format}`);
    await ask(page, 'GET', '/search?q=lamp&format=json&pageno=2');
    for (const words of ['har', 'lamp']) await ask(page, 'GET', `/autocompleter?q=${words}`);
    for (const path of ['/about', '/preferences', '/stats']) await open(page, base + path);
    for (const path of ['/stats/errors', '/stats/checker', '/config']) await ask(page, 'GET', path);
    await open(page, `${base}/preferences`);
    await page.selectOption('select[name=safesearch]', '1');
    await press(page, 'form[action$="/preferences"] [type=submit]');
    await page.close();
}

const settings = (share: string, port: number) => `
general: {debug: False, instance_name: "Harbour search", contact_url: False, enable_stats: True}
brand: {git_url: "https://search.example/git", git_branch: master, issue_url: "https://search.example/issues", docs_url: "https://search.example/docs", public_instances: "https://search.example", wiki_url: "https://search.example/wiki", twitter_url: ""}
search: {safe_search: 0, autocomplete: "", default_lang: "en", ban_time_on_fail: 5, max_ban_time_on_fail: 120, prefer_configured_language: False}
server: {port: ${port}, bind_address: "127.0.0.1", secret_key: "brass", base_url: False, image_proxy: False, http_protocol_version: "1.1", method: "GET", default_http_headers: {X-Robots-Tag: "noindex"}}
ui: {autofocus: True, archive_today: False, static_path: "${share}/static", templates_path: "${share}/templates", default_theme: oscar, default_locale: "en", theme_args: {oscar_style: logicodev}}
outgoing: {request_timeout: 3.0, useragent_suffix: "", pool_connections: 10, pool_maxsize: 10}
checker: {off_when_debug: True}
engines:
${[
    ['boats', 'general'],
    ['lamps', 'science'],
    ['notices', 'news'],
]
    .map(
        ([name, category]) =>
            `  - {name: ${name}, engine: json_engine, shortcut: ${name?.slice(0, 2)}, categories: ${category}, paging: True, time_range_support: True, enable_http: True, search_url: "http://127.0.0.1:${port + 1000}/${name}?q={query}&page={pageno}", results_query: results, url_query: url, title_query: title, content_query: content, timeout: 3.0}`,
    )
    .join('\n')}
locales: {en: English, de: Deutsch, fr: Francais}
doi_resolvers: {doi.example: "https://doi.example/"}
default_doi_resolver: doi.example
`;

const ENGINE = `
import { createServer } from 'node:http';
createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const [kind, words, page] = [url.pathname.slice(1), url.searchParams.get('q'), Number(url.searchParams.get('page'))];
    const results = Array.from({ length: 10 }, (_, at) => ({ url: 'https://shop.example/' + kind + '/' + (page * 10 + at), title: 'All about ' + words + ', part ' + (page * 10 + at), content: 'What a keeper of ' + kind + ' says of ' + words + ' in chapter ' + at }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ results }));
}).listen(Number(process.argv[2]), '127.0.0.1');
`;
