import { spawn } from 'node:child_process';

/** Shows a page in a browser: the named one, or what the system opens links with. Nothing happens where there is none. */
export function openBrowser(url: string, browser: string | undefined): void {
    // Servers name the URL: no other kind of link is opened.
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
