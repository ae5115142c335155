import type { Page } from 'playwright-core';

/** The user who signs in during a visit. */
export const KEEPER = { user: 'Keeper', password: 'Leuchtfeuer-4471' } as const;

export async function open(page: Page, url: string): Promise<void> {
    // Other hosts are unreachable, and some pages never become idle.
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
}

export async function links(page: Page, like: RegExp): Promise<string[]> {
    const all = await page.$$eval('a[href]', (found) => found.map((one) => (one as unknown as { href: string }).href));
    return [...new Set(all.filter((href) => like.test(href)))];
}

/** One request of the page's script. A text is sent as a form. */
export async function ask(page: Page, method: string, path: string, body?: object | string): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const type = typeof sent === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
            const more = sent === undefined ? {} : { body: typeof sent === 'string' ? sent : JSON.stringify(sent) };
            const headers = { accept: 'application/json', ...(sent === undefined ? {} : { 'content-type': type }) };
            return await (await fetch(where, { method: how, headers, ...more })).text();
        },
        [method, path, body] as const,
    );
}

/** A request of the page's script with a name and a password. */
export async function askAs(page: Page, user: string, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([who, how, where, sent]) => {
            const headers = { authorization: `Basic ${btoa(who)}`, 'content-type': 'application/json' };
            return await (
                await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
            ).text();
        },
        [user, method, path, body] as const,
    );
}

export async function press(page: Page, button: string): Promise<void> {
    await Promise.all([page.waitForNavigation({ waitUntil: 'domcontentloaded' }), page.locator(button).first().click()]);
}

export async function send(page: Page, field: string): Promise<void> {
    await Promise.all([page.waitForNavigation({ waitUntil: 'domcontentloaded' }), page.press(field, 'Enter')]);
}

export async function fill(page: Page, form: string, values: Readonly<Record<string, string[]>>): Promise<void> {
    for (const [name, all] of Object.entries(values))
        for (const [place, value] of all.entries())
            await page
                .locator(`#${form} [name=${name}]`)
                .nth(place)
                .evaluate((one, words) => ((one as unknown as { value: string }).value = words), value);
}

/** Sends a form as it is, without its script. A button may hide the function. */
export async function submit(page: Page, form: string): Promise<void> {
    const send = (one: unknown) =>
        (globalThis as unknown as { HTMLFormElement: { prototype: { submit(): void } } }).HTMLFormElement.prototype.submit.call(one);
    await Promise.all([page.waitForNavigation(), page.locator(form).first().evaluate(send)]);
}

/** Runs a command of the page's own script. */
export async function run(page: Page, command: string): Promise<void> {
    await settled(page, () => page.evaluate(`void (${command})`));
}

export async function settled(page: Page, act: () => Promise<unknown>): Promise<void> {
    await Promise.all([page.waitForResponse(() => true, { timeout: 3000 }).catch(() => undefined), act()]);
    await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
}

/** Runs `act` and waits for the complete response that it causes. */
export async function answered(page: Page, path: string, act: () => Promise<unknown>): Promise<void> {
    const [response] = await Promise.all([page.waitForResponse((answer) => new URL(answer.url()).pathname.includes(path)), act()]);
    await response.finished();
}
