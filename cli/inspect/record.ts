/**
 * Records a browser session: `routebook inspect https://site/` calls `inspect({ recording: record(url, { executablePath }) }, { site: host
 * of the url })`. The recording ends when the contributor closes the window, or with `signal`.
 */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Page, Request } from 'playwright-core';

interface RecordOptions {
    /** Path of the browser. By default, an installed Chromium, Chrome or Edge. */
    executablePath?: string;
    /** Whether a window can open; true by default. */
    hasDisplay?: boolean;
    /** Opens no window; needs `drive`. */
    headless?: boolean;
    /** More arguments for the browser. */
    arguments?: readonly string[];
    /** Operates the page in place of the contributor. The recording ends when it resolves. */
    drive?: (page: Page) => Promise<void>;
    signal?: AbortSignal;
}

/** No browser is installed, or it does not start. The message says what to do. */
export class NoBrowser extends Error {}

const PROGRAMS = [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/usr/bin/microsoft-edge',
    '/snap/bin/chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** A browser on this machine, or `undefined`. */
export function findBrowser(): string | undefined {
    return PROGRAMS.find((path) => existsSync(path));
}

/**
 * Opens `url` in a browser with a new profile and yields each request with its response, as entries of a HAR file. Nothing is written to
 * disk; `inspect` removes secrets as it reads.
 * @throws NoBrowser
 */
export async function* record(url: string, options: RecordOptions = {}): AsyncGenerator<unknown> {
    const executablePath = options.executablePath ?? findBrowser();
    if (executablePath === undefined) throw new NoBrowser('No Chromium, Chrome or Edge was found. Name its program with --browser.');
    const { chromium } = await import('playwright-core');
    const browser = await chromium
        .launch({
            executablePath,
            headless: options.headless ?? false,
            // Chromium does not start its sandbox for root, which is the usual user in a container.
            chromiumSandbox: process.getuid?.() !== 0,
            args: [...(options.arguments ?? [])],
            // Ctrl-C ends the recording through `signal`; this process still drafts the package.
            handleSIGINT: false,
        })
        .catch((error: unknown) => {
            const remedy =
                options.hasDisplay !== false
                    ? 'Name another program with --browser.'
                    : 'This machine has no display for its window. Record on another one: save the requests in the developer tools of its browser as a HAR file, and inspect that file here.';
            throw new NoBrowser(`${executablePath} does not start. ${remedy}`, { cause: error });
        });
    const mailbox = createMailbox();
    let arrivals: Promise<unknown> | undefined;
    let arrive = async () => {};
    const stop = () => {
        arrivals ??= Promise.race([arrive(), pause(LATE_MS, undefined, { ref: false })]).then(() => browser.close());
    };
    options.signal?.addEventListener('abort', stop, { once: true });
    browser.on('disconnected', () => mailbox.close());
    try {
        if (options.signal?.aborted === true) return;
        const context = await browser.newContext(options.drive === undefined ? { viewport: null } : {});
        const pending = listen(context, mailbox);
        arrive = () => waitForPending(context, pending);
        const visit = walk(context, url, options).then(
            () => Promise.allSettled(pending).then(() => mailbox.close()),
            (error: unknown) => mailbox.fail(error),
        );
        yield* mailbox.read();
        await visit;
    } finally {
        options.signal?.removeEventListener('abort', stop);
        await arrivals;
        await browser.close();
    }
}

/**
 * How long to wait for pending responses when the recording ends. The contributor has seen the response to the last click, so it belongs to
 * the recording.
 */
const LATE_MS = 5000;

/** Resolves when all events of the browser up to now were processed. Events arrive in order. */
async function waitForPending(context: BrowserContext, pending: ReadonlySet<Promise<void>>): Promise<void> {
    await Promise.allSettled(context.pages().map((page) => page.evaluate('0')));
    await Promise.allSettled(pending);
}

/** Resolves when the contributor or `drive` is done. */
async function walk(context: BrowserContext, url: string, { drive }: RecordOptions): Promise<void> {
    const page = await context.newPage();
    if (drive !== undefined) {
        const answered = watchAnswers(context);
        await page.goto(url);
        await drive(page);
        await page.waitForLoadState('networkidle').catch(() => undefined);
        await Promise.race([answered(), pause(LATE_MS, undefined, { ref: false })]);
        return;
    }
    const isOver = new Promise<void>((done) => {
        const check = () => {
            if (context.pages().length === 0) done();
        };
        const watch = (one: Page) => one.on('close', check);
        context.on('page', watch);
        context.on('close', () => done());
        watch(page);
    });
    // If the page does not open, the contributor sees it in the window.
    await page.goto(url).catch(() => undefined);
    await isOver;
}

/** Returns a function that resolves when every request since has finished or failed. */
function watchAnswers(context: BrowserContext): () => Promise<void> {
    const open = new Set<Request>();
    let resolveAll: (() => void) | undefined;
    const end = (request: Request) => {
        open.delete(request);
        if (open.size === 0) resolveAll?.();
    };
    context.on('request', (request) => open.add(request));
    context.on('requestfinished', end);
    context.on('requestfailed', end);
    return () => (open.size === 0 ? Promise.resolve() : new Promise<void>((done) => (resolveAll = done)));
}

function listen(context: BrowserContext, mailbox: Mailbox): Set<Promise<void>> {
    const pending = new Set<Promise<void>>();
    const addRequest = (request: Request) => {
        const read = entryOf(request).then(
            (entry) => mailbox.put(entry),
            // The page was closed while its response was read.
            () => undefined,
        );
        pending.add(read);
        void read.finally(() => pending.delete(read));
    };
    context.on('requestfinished', addRequest);
    context.on('requestfailed', addRequest);
    return pending;
}

/** Images and scripts are not read. */
const WITH_BODY: ReadonlySet<string> = new Set(['document', 'xhr', 'fetch', 'other']);
const MAX_BODY = 8 * 1024 * 1024;

async function entryOf(request: Request): Promise<unknown> {
    const response = await request.response().catch(() => null);
    const [headers, answered] = await Promise.all([request.headersArray(), response?.headersArray() ?? []]);
    const type = answered.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
    const isText = /json|html|text|xml|^$/.test(type);
    const body =
        response !== null && isText && WITH_BODY.has(request.resourceType()) ? await response.body().catch(() => undefined) : undefined;
    const sent = request.postDataBuffer();
    const sentType = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
    return {
        _resourceType: request.resourceType(),
        request: {
            method: request.method(),
            url: request.url(),
            headers,
            ...(sent === null ? {} : { postData: { mimeType: sentType, text: sent.toString('utf8') } }),
        },
        response: {
            status: response?.status() ?? 0,
            headers: answered,
            content: { mimeType: type, ...(body === undefined || body.length > MAX_BODY ? {} : { text: body.toString('utf8') }) },
        },
    };
}

/** A queue from event handlers to one reader, in order. */
interface Mailbox {
    put(entry: unknown): void;
    close(): void;
    fail(error: unknown): void;
    read(): AsyncGenerator<unknown>;
}

function createMailbox(): Mailbox {
    const waiting: unknown[] = [];
    let wake: () => void = () => undefined;
    let isClosed = false;
    let failure: { error: unknown } | undefined;
    return {
        put(entry) {
            waiting.push(entry);
            wake();
        },
        close() {
            isClosed = true;
            wake();
        },
        fail(error) {
            failure = { error };
            wake();
        },
        async *read() {
            for (;;) {
                if (failure !== undefined) throw failure.error;
                if (waiting.length > 0) yield waiting.shift();
                else if (isClosed) return;
                else
                    await new Promise<void>((done) => {
                        wake = done;
                    });
            }
        },
    };
}
