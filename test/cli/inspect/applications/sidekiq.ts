import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, links, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'sidekiq',
    host: 'crew.test',
    ready: '/stats',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'fill.rb'), JOBS);
        writeFileSync(join(folder, 'serve.rb'), SERVER);
        return `${END_ALL}
            redis-server --port ${port + 1000} --bind 127.0.0.1 --save '' --dir ${folder} &
            until redis-cli -p ${port + 1000} ping; do sleep 0.1; done
            export REDIS_URL=redis://127.0.0.1:${port + 1000}/0 RACK_ENV=production
            ruby fill.rb && ruby serve.rb ${port} & wait $!`;
    },
};

/** Looks at queues, retries, dead and planned jobs of a crew of workers, and retries, kills and deletes some of them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    page.on('dialog', (question) => void question.accept());
    for (const path of ['/', '/?days=7', '/?days=90', '/busy', '/queues', '/retries', '/scheduled', '/morgue'])
        await open(page, base + path);
    for (const path of ['/stats', '/stats', '/stats/queues', '/dashboard/stats']) await ask(page, 'GET', path);
    for (const name of ['boats', 'lamps', 'ropes']) {
        await open(page, `${base}/queues/${name}`);
        await open(page, `${base}/queues/${name}?page=2&count=25`);
        await open(page, `${base}/queues/${name}?direction=asc`);
        await open(page, `${base}/queues/${name}`);
        await press(page, 'form[action$="/delete"] input[name=delete]');
    }
    for (const name of ['lamps', 'ropes']) {
        await open(page, `${base}/queues`);
        await press(page, `form[action$="/queues/${name}"] input[name=delete]`);
    }
    for (const kind of ['retries', 'scheduled', 'morgue']) {
        for (const part of ['?page=2&count=25', '?count=10', '?poll=true']) await open(page, `${base}/${kind}${part}`);
        await open(page, `${base}/${kind}`);
        const jobs = await links(page, new RegExp(`/${kind}/[\\d.]+-`));
        for (const job of jobs.slice(0, 3)) await open(page, job);
        for (const [place, button] of (kind === 'scheduled' ? ['add_to_queue', 'delete'] : ['retry', 'delete']).entries()) {
            await open(page, jobs[place] ?? '');
            await press(page, `form.form-horizontal input[name=${button}]`);
        }
        for (const button of kind === 'scheduled'
            ? ['add_to_queue', 'delete']
            : kind === 'retries'
              ? ['retry', 'kill', 'delete']
              : ['retry', 'delete']) {
            await open(page, `${base}/${kind}`);
            for (const place of [0, 1]) await page.locator('input[name="key[]"]').nth(place).check();
            await press(page, `form[action$="/${kind}"] input[name=${button}]`);
        }
    }
    await open(page, `${base}/busy`);
    for (const button of ['quiet', 'stop']) {
        await open(page, `${base}/busy`);
        await press(page, `form:has(input[name=identity]) button[name=${button}]`);
    }
    await open(page, `${base}/retries`);
    await press(page, 'form[action$="/retries/all/retry"] input[name=retry]');
    await open(page, `${base}/morgue`);
    await press(page, 'form[action$="/morgue/all/delete"] input[name=delete]');
    await page.close();
}

const JOBS = `
require 'sidekiq'
require 'sidekiq/api'
Sidekiq.configure_client { |config| config.redis = { url: ENV['REDIS_URL'] } }
%w[boats lamps ropes].each do |name|
  30.times { |place| Sidekiq::Client.push('class' => "Paint#{name.capitalize}", 'queue' => name, 'args' => [place, "coat #{place}"]) }
end
now = Time.now.to_f
job = lambda do |place|
  { 'class' => %w[HaulBoat CleanLamp SpliceRope][place % 3], 'queue' => %w[boats lamps ropes][place % 3], 'args' => [place, 'again'], 'jid' => format('%024x', 7_000_001 * (place + 3)),
    'retry' => true, 'retry_count' => place % 4, 'error_class' => 'RuntimeError', 'error_message' => "Fog number #{place}", 'failed_at' => now - 900, 'retried_at' => now - 300, 'enqueued_at' => now - 1000, 'created_at' => now - 1100 }
end
Sidekiq.redis do |one|
  { 'retry' => 3600, 'schedule' => 7200, 'dead' => -3600 }.each do |set, later|
    30.times { |place| one.zadd(set, (now + later + place * 7.25).to_s, Sidekiq.dump_json(job.call(place))) }
  end
  %w[pier quay].each do |name|
    identity = "#{name}:4711:0a1b2c3d4e5f"
    one.sadd('processes', identity)
    one.hset(identity, 'info', Sidekiq.dump_json('hostname' => name, 'started_at' => now - 5000, 'pid' => 4711, 'tag' => '', 'concurrency' => 5, 'queues' => ['boats'], 'labels' => [], 'identity' => identity), 'busy', 0, 'beat', now, 'quiet', 'false', 'rss', 65536, 'rtt_us', 300)
  end
end
`;

const SERVER = `
require 'sidekiq'
require 'sidekiq/web'
require 'rack'
require 'rack/session/cookie'
Sidekiq.configure_client { |config| config.redis = { url: ENV['REDIS_URL'] } }
app = Rack::Builder.new do
  use Rack::Session::Cookie, secret: 'a harbour has many ropes, lamps and boats, and each of them is old and dear', same_site: true
  run Sidekiq::Web
end
Rack::Handler::WEBrick.run(app, Host: '127.0.0.1', Port: ARGV[0].to_i, AccessLog: [])
`;
