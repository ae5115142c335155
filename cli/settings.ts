import { homedir } from 'node:os';
import { join } from 'node:path';
import { type EgressSettings, readEgressSettings } from '../shared/platform/config.ts';

/** Settings from the environment. Only this file in cli/ reads it. */
export interface Settings {
    /** ROUTEBOOK_URL */
    server: string | undefined;
    /** ROUTEBOOK_API_KEY */
    apiKey: string | undefined;
    /** BROWSER: a program that opens pages; by default the system's. */
    browser: string | undefined;
    /** Whether a window can open. On Linux that needs X or Wayland, which containers and remote shells lack. */
    hasDisplay: boolean;
    /** The folder of stored keys: `$XDG_CONFIG_HOME/routebook`, `~/.config/routebook` by default. */
    folder: string;
    /** False with NO_COLOR and on terminals without colours. */
    mayColour: boolean;
    /** EGRESS_ALLOW, EGRESS_HOSTS and EGRESS_PROXY_URL, as the workers read them. @throws ConfigFault */
    egress(): EgressSettings;
}

/** How people started this program, for the commands that hints name: npm sets this variable for npx. */
export const PROGRAM = process.env['npm_command'] === 'exec' ? 'npx routebook' : 'routebook';

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the environment once. Empty variables count as unset. */
export function readSettings(env: Env = process.env): Settings {
    const value = (name: string) => env[name]?.trim() || undefined;
    return {
        server: value('ROUTEBOOK_URL'),
        apiKey: value('ROUTEBOOK_API_KEY'),
        browser: value('BROWSER'),
        hasDisplay: process.platform !== 'linux' || Boolean(value('DISPLAY') ?? value('WAYLAND_DISPLAY')),
        folder: join(value('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'routebook'),
        // https://no-color.org: any value that is not empty.
        mayColour: !env['NO_COLOR'] && env['TERM'] !== 'dumb',
        egress: () => readEgressSettings(env),
    };
}
