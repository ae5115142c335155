import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { isWhole } from '../../support/sample.ts';
import { findProgram, leaveOut } from '../../support/system-programs.ts';

const axe: { source: string } = createRequire(import.meta.url)('axe-core');

export const PHONE = { width: 360, height: 740 } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;
type Scheme = 'light' | 'dark';
const PICTURES = process.env['SCREENSHOTS'];

interface TabOptions {
    viewport?: { width: number; height: number };
    scheme?: Scheme;
    /** Errors that this test causes on purpose. */
    expects?: RegExp;
}

/** A window with its own cookies, storage and permissions. */
export interface Tab {
    page: Page;
    context: BrowserContext;
    /** Opens a path of our server and checks its width; in a long run also all that `look` checks. Resolves with its status. */
    visit(path: string): Promise<number>;
    /** Fails on horizontal overflow and on serious problems that axe finds. */
    look(): Promise<void>;
    /**
     * Checks the current page: with all rules of axe on a phone in light, and its colours on a desktop in dark; in a long run on both
     * screens in both schemes. It ends as a phone in light. SCREENSHOTS names a folder for pictures of all four,
     * `<name>.<screen>.<scheme>.png`.
     */
    lookAround(name: string): Promise<void>;
    /** Fails on everything that went wrong since it was opened: errors in the console, requests to other hosts, responses of 5xx. */
    close(): Promise<void>;
}

/**
 * The system's Chromium; `leaveOut` handles a missing one. Call it in `before`, with mocha's `this`.
 * @param hosts names of other sites that resolve to this machine
 * @param textSize what the user set as the size of text, in pixels
 */
export async function openBrowser(
    test: Context,
    { hosts = [], textSize = 16 }: { hosts?: readonly string[]; textSize?: number } = {},
): Promise<Browser> {
    // The shell is Chromium without windows, and takes half of the CPU.
    const executablePath = findProgram('chromium-headless-shell') ?? findProgram('chromium') ?? findProgram('google-chrome');
    if (executablePath === undefined) leaveOut(test, ['chromium-headless-shell']);
    // Containers give it neither a sandbox of its own nor much shared memory.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-gpu'];
    args.push(`--blink-settings=defaultFontSize=${textSize}`);
    if (hosts.length > 0) args.push(`--host-resolver-rules=${hosts.map((host) => `MAP ${host} 127.0.0.1`).join(',')}`);
    return chromium.launch({ executablePath, args, timeout: 60_000 });
}

/** Opens a window on the service at `base`. */
export async function openTab(browser: Browser, base: string, options: TabOptions = {}): Promise<Tab> {
    const { viewport = DESKTOP, scheme = 'light', expects } = options;
    const locality = { locale: 'en-US', timezoneId: 'UTC' } as const;
    // Without motion, colours are checked at their end.
    const context = await browser.newContext({ baseURL: base, viewport, colorScheme: scheme, reducedMotion: 'reduce', ...locality });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults = watch(context, page, base);

    async function look(rules?: readonly string[]): Promise<void> {
        const place = new URL(page.url()).pathname;
        faults.push(...(await accessibilityFaults(page, rules)).map((fault) => `${place}: ${fault}`));
        await lookAtWidth();
    }

    async function lookAtWidth(): Promise<void> {
        const { wide, shown } = await measure(page);
        if (wide > shown) faults.push(`${new URL(page.url()).pathname} is ${wide} px wide on a screen of ${shown} px`);
        report(faults, expects);
    }

    async function show(size: typeof PHONE | typeof DESKTOP, colorScheme: Scheme): Promise<void> {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
    }

    async function keepPicture(name: string): Promise<void> {
        await page.screenshot({ path: join(PICTURES ?? '', `${name}.png`), fullPage: true, animations: 'disabled' });
    }

    return {
        page,
        context,
        look: () => look(),
        async lookAround(name) {
            for (const [screen, size] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
                for (const scheme of ['light', 'dark'] as const) {
                    if (!isWhole && PICTURES === undefined && (size === PHONE) !== (scheme === 'light')) continue;
                    await show(size, scheme);
                    await look(scheme === 'light' && (isWhole || size === PHONE) ? undefined : RULES_OF_COLOURS);
                    if (PICTURES !== undefined) await keepPicture(`${name}.${screen}.${scheme}`);
                }
            }
            await show(PHONE, 'light');
        },
        async visit(path) {
            const answer = await page.goto(path, { waitUntil: 'load' });
            // Each page has a test that checks it with all rules of axe.
            await (isWhole ? look() : lookAtWidth());
            return answer?.status() ?? 0;
        },
        async close() {
            await context.close();
            report(faults, expects);
        },
    };
}

function report(faults: readonly string[], expects: RegExp | undefined): void {
    const unexpected = faults.filter((fault) => expects === undefined || !expects.test(fault));
    if (unexpected.length > 0) throw new Error(unexpected.join('\n'));
}

/** Collects the errors that the browser reports. A page that is refused on purpose (4xx) is not one. */
function watch(context: BrowserContext, page: Page, base: string): string[] {
    const faults: string[] = [];
    const { host } = new URL(base);
    page.on('pageerror', (error) => faults.push(`script error on ${page.url()}: ${error.message}`));
    page.on('console', (message) => {
        const isOwnRefusal = message.text().startsWith('Failed to load resource') && pathOf(message.location().url) === pathOf(page.url());
        if (message.type() === 'error' && !isOwnRefusal) faults.push(`console error on ${page.url()}: ${message.text()}`);
    });
    context.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol !== 'data:' && url.host !== host) faults.push(`a request to ${url.host} from ${page.url()}`);
    });
    context.on('response', (response) => {
        if (response.status() >= 500) faults.push(`${response.status()} from ${response.url()}`);
    });
    return faults;
}

function pathOf(url: string): string {
    return URL.canParse(url) ? new URL(url).pathname : url;
}

// The script is text, since this project's types include no DOM.
async function measure(page: Page): Promise<{ wide: number; shown: number }> {
    // A page that is still loading has no document yet.
    await page.waitForLoadState('domcontentloaded');
    return page.evaluate('({ wide: document.documentElement.scrollWidth, shown: document.documentElement.clientWidth })');
}

interface AxeResults {
    violations: { id: string; impact: string | null; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** @param rules the rules of axe to check; its default rules if undefined */
async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
    // Runs like a debugger, so that the page's own policy stays in force.
    if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(axe.source);
    const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
    const results = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
    return results.violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html} ${failureSummary ?? ''}`));
}
