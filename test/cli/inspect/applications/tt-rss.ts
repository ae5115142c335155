import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'tt-rss',
    host: 'feeds.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'fill.sql'), TINY_RSS_FEEDS);
        const root = join(npm, '../../root');
        const settings = "$dbtype='pgsql';$dbserver='127.0.0.1';$dbuser='postgres';$dbname='postgres';$dbpass='';";
        return `${END_ALL}${postgres(folder, port + 1000)}
            psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f ${root}/usr/share/tt-rss/schema/ttrss_schema_pgsql.sql -f fill.sql
            cp -rL ${root}/usr/share/tt-rss/www www
            mkdir -p lock cache/images cache/upload cache/export cache/js www/feed-icons
            sed -e "s#include_once.*#${settings.replaceAll('$', '\\$')}\\$dbport='${port + 1000}';#" -e "s#'%SELF_URL_PATH'#'http://feeds.test:${port}/'#" \\
                -e 's#/var/lib/tt-rss#${folder}/lock#; s#/var/cache/tt-rss#${folder}/cache#' ${root}/etc/tt-rss/config.php > www/config.php
            chown -R www-data lock cache www
            cd www
            PHP_CLI_SERVER_WORKERS=4 runuser -u www-data -- php -d display_errors=0 -S 127.0.0.1:${port} & wait $!`;
    },
};

/** Signs in to a reader of feeds, opens feeds and articles, and does the same and more by its JSON API. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.fill('input[name=login]', 'admin');
    await page.fill('input[name=password]', 'password');
    await Promise.all([page.waitForNavigation(), page.press('input[name=password]', 'Enter')]);
    await page.waitForTimeout(4000);
    const call = async (op: string, more: object = {}) =>
        (JSON.parse(await ask(page, 'POST', '/api/', { ...session, op, ...more })) as { content: unknown }).content;
    let session = {};
    const { session_id } = (await call('login', { user: 'admin', password: 'password' })) as { session_id: string };
    session = { sid: session_id };
    for (const _ of [1, 2]) {
        for (const op of ['getVersion', 'getApiLevel', 'isLoggedIn', 'getConfig', 'getUnread']) await call(op);
        await call('getCounters', { output_mode: 'flc' });
        await call('getFeedTree', { include_empty: true });
    }
    for (const include_empty of [true, false]) await call('getCategories', { unread_only: false, enable_nested: false, include_empty });
    for (const cat_id of [1, 2]) await call('getFeeds', { cat_id, unread_only: false, limit: 10, offset: 0 });
    for (const feed_id of [1, 2, 3]) {
        for (const skip of [0, 2])
            await call('getHeadlines', { feed_id, limit: 2, skip, is_cat: false, show_excerpt: true, view_mode: 'all_articles' });
    }
    for (const article_id of ['1', '2']) {
        await call('getArticle', { article_id });
        await call('getLabels', { article_id });
        await call('updateArticle', { article_ids: article_id, mode: 1, field: 0 });
        await call('setArticleLabel', { article_ids: article_id, label_id: -1025, assign: true });
    }
    for (const feed_id of [1, 2]) await call('catchupFeed', { feed_id, is_cat: false, mode: 'all' });
    for (const pref_name of ['ENABLE_API_ACCESS', 'DEFAULT_ARTICLE_LIMIT']) await call('getPref', { pref_name });
    for (const title of ['Fog', 'Bell']) await call('shareToPublished', { title, url: `http://notes.example/${title}`, content: 'Words.' });
    for (const feed_id of [2, 3]) await call('unsubscribeFeed', { feed_id });
    await page.close();
}

const TINY_RSS_FEEDS = `
insert into ttrss_user_prefs (owner_uid, pref_name, value) values (1, 'ENABLE_API_ACCESS', 'true');
insert into ttrss_feed_categories (title, owner_uid) values ('Sea', 1), ('Land', 1);
insert into ttrss_feeds (owner_uid, title, cat_id, feed_url, site_url, last_updated) select 1, name, 1 + place % 2, 'http://' || lower(name) || '.example/feed', 'http://' || lower(name) || '.example/', now() from unnest(array['Tides', 'Lights', 'Ropes']) with ordinality as feed (name, place);
insert into ttrss_entries (title, guid, link, updated, content, content_hash, date_entered, date_updated, author) select 'Notice ' || i, 'SHA1:' || i, 'http://tides.example/' || i, now(), '<p>Words of notice ' || i || '</p>', 'x' || i, now(), now(), 'Keeper' from generate_series(1, 12) i;
insert into ttrss_user_entries (ref_id, uuid, feed_id, owner_uid, tag_cache, label_cache) select i, '', 1 + i % 3, 1, '', '' from generate_series(1, 12) i;
insert into ttrss_labels2 (owner_uid, caption) values (1, 'Later'), (1, 'Read out');
`;
