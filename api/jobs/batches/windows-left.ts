import type { App } from '../../../shared/app.ts';
import type { WindowState } from '../../../shared/coordination/limits/types.ts';
import { windowsOf } from '../../../shared/domain/accounts/plans.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';

/** What is left of the account's rate limits. They are only for an estimate: if they cannot be read, they count as unused. */
export async function windowsLeft(app: App, { accountId, figures }: Caller): Promise<WindowState[]> {
    const windows = windowsOf(figures);
    try {
        return (await app.limits.peek(`account:${accountId}`, windows, accountId)).windows;
    } catch {
        return windows.map((window) => ({ ...window, remaining: window.limit, resetsIn: 0 }));
    }
}
