import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'ungit',
    host: 'history.test',
    ready: '/api/ping',
    visit,
    start(folder, port, npm) {
        const { program, args } = node(npm, 'ungit/bin/ungit');
        return `
            git config --global user.name Keeper && git config --global user.email keeper@harbour.example && git config --global init.defaultBranch main && git config --global safe.directory ${folder}
            for name in harbour lights; do
                git init -q $name
                for file in tides ropes; do echo $file > $name/$file.txt; git -C $name add . && git -C $name commit -qm "Write $file"; done
            done
            exec ${program} ${args.join(' ')} --port=${port} --ungitBindIp=127.0.0.1 --no-launchBrowser --no-bugtracking`;
    },
};

/** Looks at the history of two folders, and changes it: branches, tags, commits, stashes and remotes. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/api/ping`);
    const get = (path: string, query: Record<string, string> = {}) =>
        ask(page, 'GET', `/api/${path}?${new URLSearchParams(query)}`.replace(/\?$/, ''));
    const remove = (path: string, query: Record<string, string>) => ask(page, 'DELETE', `/api/${path}?${new URLSearchParams(query)}`);
    const post = (path: string, body: object) => ask(page, 'POST', `/api/${path}`, body);
    for (const name of ['gitversion', 'userconfig']) await get(name);
    const { 'safe.directory': home = '' } = JSON.parse(await get('gitconfig')) as Record<string, string>;
    for (const [place, name] of ['harbour', 'lights'].entries()) {
        const path = `${home}/${name}`;
        const [branch, tag, file] = [`${name}-new`, `${place + 1}.0`, place === 0 ? 'tides.txt' : 'ropes.txt'];
        await get('fs/exists', { path });
        await get('fs/listDirectories', { term: path });
        for (const one of [
            'quickstatus',
            'status',
            'head',
            'branches',
            'tags',
            'checkout',
            'remotes',
            'stashes',
            'submodules',
            'baserepopath',
        ])
            await get(one, { path: one === 'baserepopath' ? `${path}/.git` : path });
        const log = JSON.parse(await get('gitlog', { path, limit: String(25 + place), skip: '0' })) as { nodes: { sha1: string }[] };
        const [{ sha1: last } = { sha1: '' }, { sha1: first } = { sha1: '' }] = log.nodes;
        for (const sha1 of [last, first]) {
            await get('show', { path, sha1 });
            await get('diff', { path, file, sha1, whiteSpace: place === 0 ? 'false' : 'true' });
        }
        await get('refs', { path, remoteFetch: place === 0 ? 'false' : '' });
        await post('branches', { path, name: branch, sha1: last });
        await post('checkout', { path, name: branch });
        await get('checkout', { path });
        await ask(page, 'PUT', '/api/gitignore', { path, data: `*.${name}` });
        await get('gitignore', { path });
        await post('ignorefile', { path, file: `${name}.log` });
        await post('commit', { path, message: `Leave out ${name}`, files: [{ name: '.gitignore' }] });
        await post('tags', { path, name: tag, sha1: first });
        await get('tags', { path });
        await ask(page, 'PUT', '/api/gitignore', { path, data: `*.${tag}` });
        await post('stashes', { path, message: `Half of ${name}` });
        await get('stashes', { path });
        await remove('stashes/0', { path, apply: place === 0 ? 'true' : 'false' });
        await post('discardchanges', { path, all: true });
        const { nodes } = JSON.parse(await get('gitlog', { path, limit: '5', skip: '1' })) as { nodes: { sha1: string }[] };
        await post('checkout', { path, name: 'main' });
        await post('merge', { path, with: branch });
        const changed = JSON.parse(await get('gitlog', { path, limit: '5', skip: '0' })) as { nodes: { sha1: string }[] };
        await post('revert', { path, commit: changed.nodes.find(({ sha1 }) => sha1 !== last && sha1 !== first)?.sha1 });
        await post('reset', { path, to: nodes[0]?.sha1, mode: place === 0 ? 'hard' : 'mixed' });
        await post('discardchanges', { path, all: true });
        await post('cherrypick', { path, name: branch });
        await post('rebase', { path, onto: branch });
        await post('squash', { path, target: branch });
        for (const one of ['origin', 'copy']) {
            await post(`remotes/${one}`, { path, url: `${home}/${one}-of-${name}` });
            await get(`remotes/${one}`, { path });
        }
        await get('remotes', { path });
        for (const one of ['origin', 'copy']) await remove(`remotes/${one}`, { path });
        await remove('tags', { path, name: tag });
        await remove('branches', { path, name: branch });
        await post('createdir', { dir: `${home}/new-${name}` });
        await post('init', { path: `${home}/new-${name}`, bare: place === 0 });
    }
    await page.close();
}
