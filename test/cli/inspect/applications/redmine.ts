import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'redmine',
    host: 'issues.test',
    ready: '/projects',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'seed.rb'), REDMINE_SEED);
        return `
            cp -rL /usr/share/redmine app
            cp /var/lib/dbconfig-common/sqlite3/redmine/instances/default/redmine_default db.sqlite
            cd app
            printf 'production:\\n  adapter: sqlite3\\n  database: ${folder}/db.sqlite\\n' > instances/default/config/database.yml
            export RAILS_ENV=production RAILS_SERVE_STATIC_FILES=1
            export RUBYLIB=$(dirname $(dpkg -L ruby-webrick | grep /webrick.rb))
            bundle exec rails runner ../seed.rb
            exec bundle exec rails server -u webrick -p ${port} -b 127.0.0.1`;
    },
};

/** Reads issues, the wiki, news and boards of two projects, asks for some of it as JSON, signs in, and writes issues and comments. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/projects', '/issues', '/issues?page=1&per_page=5', '/news', '/activity']) await open(page, base + path);
    for (const project of ['harbour', 'tides']) {
        const here = `${base}/projects/${project}`;
        for (const path of [
            '',
            '/activity',
            '/roadmap',
            '/issues',
            '/issues?set_filter=1&tracker_id=1',
            '/issues?sort=priority%3Adesc%2Cid%3Adesc',
        ])
            await open(page, here + path);
        for (const path of ['/news', '/boards', '/wiki', '/wiki/index', '/wiki/Lights', '/wiki/Ropes', '/wiki/Ropes/history'])
            await open(page, here + path);
    }
    await open(page, `${base}/projects/tides/wiki/Lights/history`);
    for (const id of [1, 2, 5]) await open(page, `${base}/issues/${id}`);
    for (const [id, topic] of [
        [1, 1],
        [2, 3],
    ]) {
        for (const path of [`news/${id}`, `versions/${id}`, `boards/${id}/topics/${topic}`]) await open(page, `${base}/${path}`);
    }
    for (const words of ['rope', 'light']) {
        await open(page, `${base}/projects/harbour`);
        await page.fill('#q', words);
        await Promise.all([page.waitForNavigation(), page.press('#q', 'Enter')]);
    }
    for (const offset of [0, 2]) await ask(page, 'GET', `/issues.json?limit=2&offset=${offset}`);
    for (const id of [1, 2]) {
        await ask(page, 'GET', `/issues/${id}.json`);
        await ask(page, 'GET', `/projects/${id}.json`);
    }
    for (const path of ['/projects.json', '/issue_statuses.json', '/trackers.json']) await ask(page, 'GET', path);
    await open(page, `${base}/login`);
    await page.fill('#username', KEEPER.user);
    await page.fill('#password', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('#password', 'Enter')]);
    for (const project of ['harbour', 'tides']) {
        await open(page, `${base}/projects/${project}/issues/new`);
        await page.fill('#issue_subject', `Tell ${project}`);
        await page.fill('#issue_description', 'A few words.');
        await Promise.all([page.waitForNavigation(), page.locator('input[name=commit]').click()]);
    }
    for (const id of [1, 2]) {
        await open(page, `${base}/issues/${id}/edit`);
        await page.fill('#issue_notes', 'Seen from the mole.');
        await Promise.all([page.waitForNavigation(), page.locator('#issue-form input[name=commit]').click()]);
        await open(page, `${base}/news/${id}`);
        await page.locator('#comment_comments').evaluate((one) => ((one as unknown as { value: string }).value = 'Seen.'));
        await Promise.all([
            page.waitForNavigation(),
            page.locator('#add_comment_form input[name=commit]').evaluate((one) => (one as unknown as { click(): void }).click()),
        ]);
    }
    await page.close();
}

const REDMINE_SEED = `
Setting.rest_api_enabled = '1'
keeper = User.new(login: '${KEEPER.user}', firstname: 'Grace', lastname: 'Keeper', mail: 'keeper@harbour.example', password: '${KEEPER.password}', password_confirmation: '${KEEPER.password}')
keeper.save!
User.current = User.find_by(login: 'admin')
{ 'harbour' => 'Harbour', 'tides' => 'Tide tables' }.each do |identifier, name|
    project = Project.new(name: name, identifier: identifier, description: "All about #{name.downcase}", is_public: true)
    project.enabled_module_names = %w[issue_tracking time_tracking news wiki boards gantt calendar]
    project.trackers = Tracker.all.to_a
    project.save!
    Member.create!(project: project, user_id: keeper.id, roles: [Role.find_by(name: 'Reporter')])
    version = Version.create!(project: project, name: "#{name} 1")
    category = IssueCategory.create!(project: project, name: 'Lights')
    ['The light is out', 'Rope needed', 'Fog bell rings', 'Mooring is loose'].each_with_index do |subject, place|
        Issue.create!(project: project, tracker: Tracker.all[place % 3], author: keeper, subject: subject, description: "About: #{subject}", priority: IssuePriority.all[place % 3], status: IssueStatus.first, fixed_version: version, category: category)
    end
    wiki = project.wiki || Wiki.create!(project: project, start_page: 'Wiki')
    %w[Wiki Lights Ropes].each do |title|
        page = WikiPage.new(wiki: wiki, title: title)
        page.content = WikiContent.new(page: page, text: "h1. #{title}\n\nWords about #{title}. See [[Ropes]].", author: keeper)
        page.save!
    end
    ['High water', 'New mole'].each { |title| News.create!(project: project, title: title, summary: "#{title} in short", description: "A few words on #{title}", author: keeper) }
    board = Board.create!(project: project, name: 'Talk', description: 'Talk of the quay')
    ['Where to moor', 'Who has a rope'].each { |subject| Message.create!(board: board, subject: subject, content: "#{subject}?", author: keeper) }
end
`;
