import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { ROOT } from './processes.ts';
import type { Stack } from './stack.ts';

/** Sites of other owners, besides the one that all others call. */
export const BOMBS = 'bombs.test';
export const HANGS = 'hangs.test';
export const SLOW = 'slow.test';

export const BOMB_KINDS = ['gzip', 'double', 'endless', 'headers', 'deep', 'drip'] as const;

/** Settings that allow calls to these sites and to those of the stack. */
export function neighbourSettings({ settings, upstream }: Stack, hostilePort: number): Record<string, string> {
    const { EGRESS_HOSTS = '', EGRESS_ALLOW = '' } = settings.production;
    const hosts = [BOMBS, HANGS, SLOW].map((site) => `${site}=127.0.0.1`);
    return {
        EGRESS_HOSTS: [EGRESS_HOSTS, ...hosts].join(','),
        EGRESS_ALLOW: `${EGRESS_ALLOW},127.0.0.1/32:${hostilePort},127.0.0.1/32:${new URL(upstream).port}`,
    };
}

/** The packages of these sites. @param hostilePort the port of the site with the bombs */
export function neighbourPackages({ upstream }: Stack, hostilePort: number): PackageDocument[] {
    const packageOf = (site: string, endpoints: PackageEndpoint[]): PackageDocument => ({
        format: 'routebook/1',
        site,
        title: 'Neighbour',
        description: 'What the others suffer from.',
        intent_category: 'commerce/product-search',
        endpoints,
    });
    const at = (site: string, path: string) => `http://${site}:${hostilePort}${path}`;
    return [
        packageOf(
            BOMBS,
            BOMB_KINDS.map((name) => ({ name, method: 'GET', url: at(BOMBS, `/${name}`) })),
        ),
        packageOf(HANGS, [{ name: 'hang', method: 'GET', url: at(HANGS, '/hang') }]),
        packageOf(SLOW, [{ name: 'slow', method: 'GET', url: `http://${SLOW}:${new URL(upstream).port}/slow/5000/items/1` }]),
    ];
}

/** Creates an account with a key. `bounds` replaces limits of its plan. */
export async function openAccount({ settings }: Stack, name: string, plan: string, bounds: Record<string, number>): Promise<string> {
    const { PATH = '', HOME = '' } = process.env;
    const options = Object.entries(bounds).flatMap(([bound, value]) => [`--${bound}`, String(value)]);
    const argv = ['bin/admin.ts', 'account', 'create', '--email', `${name}@bench.example`, '--plan', plan, ...options, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: ROOT, env: { PATH, HOME, ...settings.production } });
    return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { api_key: string }).api_key;
}

/** Publishes a package. @throws Error with the answer if it is refused */
export async function publish(base: string, apiKey: string, document: PackageDocument): Promise<void> {
    const response = await fetch(`${base}/v1/schemas`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(document),
    });
    if (!response.ok) throw new Error(`publishing ${document.site} failed: ${response.status} ${await response.text()}`);
}
