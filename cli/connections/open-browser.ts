import { spawn } from 'node:child_process';

/** Opens a page in the named browser, or in the system's default browser. Does nothing if there is none. */
export function openBrowser(url: string, browser: string | undefined): void {
    // The server chose the URL, so only http and https are opened.
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
    const [program, ...args] = browser === undefined ? opener() : [browser];
    if (program === undefined) return;
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
}

function opener(): string[] {
    if (process.platform === 'darwin') return ['open'];
    return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}
