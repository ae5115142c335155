import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { findProgram } from '../../support/system-programs.ts';

export const CHROMIUM = findProgram('chromium') ?? 'chromium';

/** A headless Chromium that resolves every `.test` name to this machine and no other name, and that requests no updates. */
export async function openBrowser(): Promise<Browser> {
    return await chromium.launch({ executablePath: CHROMIUM, headless: true, args: BROWSER_ARGUMENTS });
}

export const BROWSER_ARGUMENTS = [
    '--no-sandbox',
    '--disable-background-networking',
    '--disable-component-update',
    '--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND',
];

/** Records everything that `visit` does into a HAR file as Chromium saw it, bodies included. */
export async function recordHar(browser: Browser, file: string, visit: (context: BrowserContext) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ recordHar: { path: file, content: 'embed', mode: 'full' } });
    context.setDefaultTimeout(20_000);
    try {
        await visit(context);
    } finally {
        await context.close();
    }
}
